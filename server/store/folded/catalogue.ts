/**
 * Test support: a query that lists everything a schema consists of, one line per object. Monthly partitions are left out, because they
 * depend on when the database was made.
 */
export const CATALOGUE = `
WITH tables AS (
  SELECT * FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relname !~ '_[0-9]{4}_[0-9]{2}($|_)'
)
SELECT concat_ws(' | ', 'relation', relname, relkind, relpersistence, reloptions, relacl, relispartition, relreplident, relrowsecurity,
    pg_get_expr(relpartbound, oid), CASE WHEN relkind = 'p' THEN pg_get_partkeydef(oid) END, CASE WHEN relkind IN ('i', 'I') THEN pg_get_indexdef(oid) END,
    obj_description(oid, 'pg_class')) AS object FROM tables
-- A column's place among those that are there: the numbers go on counting those that were dropped. Minor releases from late 2026 on
-- mark each version of a column with a number of its own.
UNION ALL SELECT concat_ws(' | ', 'column', relname, row_number() OVER (PARTITION BY c.oid ORDER BY attnum), attname, format_type(atttypid, atttypmod),
    attnotnull, attidentity, attgenerated, attstorage, attcompression, attcollation::regcollation,
    NULLIF(ARRAY(SELECT option FROM unnest(attoptions) AS option WHERE option !~ '^pg_attver='), '{}'), attacl, pg_get_expr(adbin, adrelid),
    col_description(c.oid, attnum))
  FROM tables c JOIN pg_attribute a ON attrelid = c.oid AND attnum > 0 AND NOT attisdropped LEFT JOIN pg_attrdef ON adrelid = c.oid AND adnum = attnum
  WHERE relkind IN ('r', 'p', 'c', 'v')
UNION ALL SELECT concat_ws(' | ', 'constraint', relname, conname, convalidated, pg_get_constraintdef(k.oid), obj_description(k.oid, 'pg_constraint'))
  FROM tables c JOIN pg_constraint k ON conrelid = c.oid WHERE contype <> 'n'
UNION ALL SELECT concat_ws(' | ', 'trigger', relname, tgenabled, pg_get_triggerdef(t.oid), obj_description(t.oid, 'pg_trigger'))
  FROM tables c JOIN pg_trigger t ON tgrelid = c.oid WHERE NOT tgisinternal
UNION ALL SELECT concat_ws(' | ', 'function', proacl, pg_get_functiondef(oid), obj_description(oid, 'pg_proc'))
  FROM pg_proc WHERE pronamespace = 'public'::regnamespace
UNION ALL SELECT concat_ws(' | ', 'sequence', sequencename, data_type, start_value, min_value, max_value, increment_by, cycle, cache_size)
  FROM pg_sequences WHERE schemaname = 'public'
UNION ALL SELECT concat_ws(' | ', 'type', typname, typtype, typacl, obj_description(oid, 'pg_type'))
  FROM pg_type WHERE typnamespace = 'public'::regnamespace AND typname !~ '_[0-9]{4}_[0-9]{2}($|_)'
ORDER BY 1`;
