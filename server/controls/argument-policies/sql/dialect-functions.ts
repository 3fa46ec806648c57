import type { SqlDialect } from "../argument-policy.ts";
import { words } from "./words.ts";

/** Read-only functions of MySQL, MariaDB, SQLite and Oracle; none of the names is a writing function in another of them. */
const READS = words(`
  abs acos acosh add_months addate adddate addtime aes_decrypt aes_encrypt any_value appendchildxml approx_count_distinct approx_median approx_percentile ascii asciistr
  asin asinh atan atan2 atanh atn2 avg bin bin_to_num bin_to_uuid bit_and bit_count bit_length bit_or bit_xor bitand bm25 cardinality cast ceil ceiling changes char
  char_length character_length charindex charset chartorowid chr cluster_probability coalesce coercibility collate collation collect compress concat concat_ws connection_id conv convert
  convert_tz corr corr_k corr_s cos cosh count covar_pop covar_samp crc32 cume_dist curdate current_date current_role current_time current_timestamp current_user curtime
  database date date_add date_format date_sub datediff datetime day dayname dayofmonth dayofweek dayofyear dbtimezone dbms_lob.getlength dbms_lob.instr dbms_lob.substr
  dbms_lob.compare dbms_random.random dbms_random.string dbms_random.value dbms_utility.get_time dbms_crypto.hash dbms_metadata.get_ddl decode decompose default degrees dense_rank depth
  deref distinct dump elt empty_blob empty_clob exists exp export_set extract extractvalue feature_value field find_in_set first first_value floor format format_bytes
  format_pico_time found_rows from_base64 from_days from_tz from_unixtime geomcollection geometrycollection get_format glob greatest group_concat group_id grouping
  grouping_id hex hextoraw highlight host hour icu_version if ifnull iif in inet6_aton inet6_ntoa inet_aton inet_ntoa initcap insert instr instrb instr4 interval is_ipv4 is_ipv4_compat
  is_ipv4_mapped is_ipv6 is_uuid isnull json json_array json_array_append json_array_insert json_array_length json_arrayagg json_contains json_contains_path json_depth
  json_detailed json_each json_equal json_error_position json_exists json_extract json_group_array json_group_object json_insert json_keys json_length json_merge json_merge_patch
  json_merge_preserve json_object json_objectagg json_overlaps json_patch json_pretty json_query json_quote json_remove json_replace json_schema_valid
  json_schema_validation_report json_search json_serialize json_set json_storage_free json_storage_size json_table json_transform json_tree json_type json_unquote json_valid
  json_value jsonb jsonb_array jsonb_each jsonb_extract jsonb_group_array jsonb_group_object jsonb_insert jsonb_object jsonb_patch jsonb_remove jsonb_replace jsonb_set jsonb_tree
  julianday lag last last_day last_insert_id last_insert_rowid last_value lcase lead least left length lengthb lengthc length2 length4 like likelihood likely linestring listagg ln
  lnnvl localtime localtimestamp locate log log10 log2 lower lpad ltrim make_set makedate maketime match matchinfo max mbrcontains mbrcoveredby mbrcovers mbrdisjoint mbrequals
  mbrintersects mbroverlaps mbrtouches mbrwithin md5 median microsecond mid min minute mod month monthname months_between multilinestring multipoint multipolygon name_const
  nanvl new_time next_day nlssort nls_charset_id nls_charset_name nls_initcap nls_lower nls_upper now nth_value ntile nullif numtodsinterval numtoyminterval nvl nvl2 octet_length
  octet_length oct offsets ora_hash ora_rowscn ord overlay percent_rank percentile_cont percentile_disc period_add period_diff pi point polygon position pow power powermultiset
  prediction prediction_probability presentnnv presentv previous printf quarter quote radians rand random random_bytes randomblob rank ratio_to_report rawtohex rawtonhex ref
  regexp_count regexp_instr regexp_like regexp_replace regexp_substr regexp regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy
  remainder repeat replace reverse right round row_count row_number rowidtochar rowidtonchar rpad rtreecheck rtreedepth rtreenode rtrim schema scn_to_timestamp sec_to_time
  second sessiontimezone session_user sha sha1 sha2 sha3 sign sin sinh snippet soundex space sql_no_cache sqlite_compileoption_get sqlite_compileoption_used sqlite_offset sqlite_source_id
  sqlite_version sqrt standard_hash stats_binomial_test stats_crosstab stats_f_test stats_mode stats_one_way_anova stats_t_test_one std stddev stddev_pop stddev_samp str_to_date
  strcmp strftime string_agg subdate substr substrb substrc substring substring_index subtime sum sys_connect_by_path sys_context sys_extract_utc sys_guid sys_typeid sysdate system_user
  systimestamp tan tanh time time_format time_to_sec timediff timestamp timestamp_to_scn timestampadd timestampdiff to_base64 to_binary_double to_binary_float to_blob to_char
  to_clob to_date to_days to_dsinterval to_lob to_multi_byte to_nchar to_nclob to_number to_seconds to_single_byte to_timestamp to_timestamp_tz to_yminterval total total_changes
  translate treat trim trunc truncate typeof tz_offset ucase uid uncompress uncompressed_length unhex unicode unistr unistr_quote unix_timestamp unixepoch unlikely updatexml upper user userenv
  utc_date utc_time utc_timestamp uuid uuid_short uuid_to_bin validate_conversion validate_password_strength value values var_pop var_samp variance vector_to_string string_to_vector vector_dim version
  vsize week weekday weekofyear weight_string width_bucket xmlagg xmlattributes xmlcast xmlcdata xmlcolattval xmlcomment xmlconcat xmldiff
  xmlelement xmlexists xmlforest xmlisvalid xmlparse xmlpi xmlquery xmlroot xmlsequence xmlserialize xmltable xmltransform xmltype year yearweek zeroblob subtype timediff
  generate_series table cursor fts5 rtree dbstat multiset
  natural_sort_key json_compact json_loose json_normalize json_key_value json_array_intersect sformat to_number chr lengthb kdf crc32c random_bytes
  dbms_xplan.display dbms_xplan.display_cursor sys.odcinumberlist sys.odcivarchar2list sys.odcidatelist 
  fuzzy_match phonic_encode vector_distance cosine_distance l2_distance inner_product vector_embedding to_vector from_vector vector_norm vector_dimension_count to_boolean
`);

/** Families of functions that are all read-only. */
const READ_FAMILIES = new RegExp(
  String.raw`^(?:st_\w+|pragma_(?:table_x?info|table_list|index_list|index_x?info|foreign_key_list|database_list|` +
    String.raw`function_list|collation_list|module_list|pragma_list|compile_options)|mbr\w+|regr_\w+|stats_\w+)$`,
);

/** T-SQL, BigQuery and Snowflake: user functions cannot write, so these are the built-in ones that write or reach outside. */
const NOT_READS = new RegExp(
  String.raw`^(?:openrowset|openquery|opendatasource|external_query|appends|changes_to|system\$(?!typeof$|cluster\w*$|` +
    String.raw`estimate\w*$|last_change\w*$|get_\w+$|explain\w+$|stream_has_data$)\w+|ai[_.]\w+|.*\bcortex\.\w+|.*\.xp_\w+|.*\.sp_\w+|` +
    String.raw`.*\b(?:fn_xe_file\w*|fn_get_audit_file\w*|fn_trace_get\w+|fn_dump_dblog|dm_os_file_exists|dm_os_enumerate_\w+)|` +
    String.raw`ml\.(?!predict$|evaluate$|feature_info$|weights$|roc_curve$)\w+|.*\.execute\w*|.*\.nextval|` +
    String.raw`seq[1248]_set)$`,
);

/**
 * Whether a function is known to only read. `name` is lower case, with schema or package if written. In MySQL, SQLite
 * and Oracle a user-defined function may write, so unknown ones are not trusted; in the others it cannot.
 */
export function isReadFunction(name: string, dialect: Exclude<SqlDialect, "postgres">): boolean {
  if (dialect === "mssql" || dialect === "bigquery" || dialect === "snowflake") return !NOT_READS.test(name);
  return READS.has(name) || READ_FAMILIES.test(name);
}
