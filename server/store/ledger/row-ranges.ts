import { sql, type RawBuilder } from "kysely";
import type { Database, Trx } from "../database.ts";
import { HEADER_FIELDS, type RowLookup } from "./row-lookups.ts";

/** A range of IDs: includes its beginning but not its end. */
export interface IdRange {
  readonly from: string;
  readonly to: string;
}

export interface RangeQuery {
  /** Lookups that all hold for matching rows. */
  readonly lookups: readonly RowLookup[];
  /** Undefined for all tenants. */
  readonly tenantId: string | undefined;
  /** ISO 8601: rows with a timestamp from `since` up to `until`, exclusive. */
  readonly since: string | undefined;
  readonly until: string | undefined;
  readonly newestFirst: boolean;
}

/** The range of IDs that blocks cover; null if there are no blocks. */
export async function describedRange(db: Database | Trx): Promise<IdRange | null> {
  const { rows } = await sql<{
    from: string | null;
    to: string | null;
  }>`SELECT min(from_id) AS "from", max(to_id) AS "to" FROM audit_blocks`.execute(db);
  const { from = null, to = null } = rows[0] ?? {};
  return from === null || to === null ? null : { from, to };
}

/**
 * The next ranges that may hold matching rows, at most `limit` of about a zone each: beyond `cursor`, in the requested order, without
 * overlaps. If there were fewer than `limit` before merging, there are no more and `cursor` is null.
 */
export async function candidateRanges(
  db: Database | Trx,
  query: RangeQuery,
  cursor: string,
  limit: number,
): Promise<{ ranges: IdRange[]; cursor: string | null }> {
  const { newestFirst, since, until } = query;
  const order = sql.raw(newestFirst ? "DESC" : "ASC");
  const beyond = (range: string): RawBuilder<boolean> =>
    newestFirst ? sql`${sql.ref(`${range}.from_id`)} < ${cursor}` : sql`${sql.ref(`${range}.to_id`)} > ${cursor}`;
  const inWindow = sql`(NOT b.filled OR ((${since ?? null}::timestamptz IS NULL OR b.greatest_timestamp >= ${since ?? null}::timestamptz) AND (${until ?? null}::timestamptz IS NULL OR b.least_timestamp < ${until ?? null}::timestamptz)))`;
  // A late row may lie inside a zone; the zone then comes first in either order and the row adds nothing. The lateral part runs block by
  // block until the limit is reached, so the order of blocks is that of rows.
  const { rows } = await sql<IdRange>`
    WITH ${sql.join(query.lookups.map((lookup, index) => wanted(lookup, index, query.tenantId)).concat(sql`nothing AS (SELECT)`))}
    SELECT z.from_id AS "from", z.to_id AS "to"
    FROM (SELECT block, from_id, to_id, filled${query.lookups.some(ofHeaders) ? sql`, headers` : sql``} FROM audit_blocks b WHERE ${beyond("b")} AND ${inWindow} ORDER BY b.from_id ${order} OFFSET 0) b
    CROSS JOIN LATERAL (
      SELECT * FROM (
        SELECT b.from_id, b.to_id WHERE NOT b.filled
        UNION ALL SELECT d.zones[zone + 1], coalesce(d.zones[zone + 2], b.to_id) FROM (SELECT array_agg(zone) AS zones FROM (${zonesOf(query.lookups)}) AS hit HAVING count(*) > 0 OFFSET 0) AS hit
          CROSS JOIN LATERAL (SELECT d.zones || '{}' AS zones FROM audit_blocks d WHERE d.block = b.block AND hit.zones IS NOT NULL OFFSET 0) AS d CROSS JOIN LATERAL unnest(hit.zones) AS zone
          WHERE b.filled AND d.zones IS NOT NULL
        UNION ALL SELECT l.id, l.id || ' ' FROM audit_late_rows l WHERE b.filled AND l.id >= b.from_id AND l.id < b.to_id) AS z
      WHERE ${beyond("z")} ORDER BY ${sql.raw(newestFirst ? "z.to_id DESC" : "z.from_id")}) AS z
    LIMIT ${limit}`.execute(db);
  const ranges = merged(rows);
  const last = ranges.at(-1);
  return { ranges, cursor: last === undefined || rows.length < limit ? null : newestFirst ? last.from : last.to };
}

/** Blocks described by old releases have no data on headers. */
const ofHeaders = ({ field }: Pick<RowLookup, "field">): boolean => HEADER_FIELDS.includes(field);

/** The entries of a lookup's values: one row per value with its least and greatest entry and the bucket of both. */
function wanted({ hashes }: RowLookup, index: number, tenantId: string | undefined): RawBuilder<unknown> {
  const tenant = tenantId === undefined ? sql`0` : sql`((hashtext(${tenantId}::text) & 65535)::bigint << 16)`;
  const most = tenantId === undefined ? sql`4294967295` : sql`65535`;
  return sql`${sql.ref(`wanted_${index}`)} AS MATERIALIZED (SELECT (h::bigint << 32) | ${tenant} AS least, (h::bigint << 32) | ${tenant} | ${most} AS most, (h >> 26) + 32 AS bucket FROM unnest(${hashes}) AS h)`;
}

/**
 * Zones of block `b` in which every lookup has one of its values; with a single lookup some may repeat. The fences force the one index
 * probe that each value and block needs. Concatenating nothing to an array detoasts and decompresses it once for all its uses.
 */
function zonesOf(lookups: readonly RowLookup[]): RawBuilder<unknown> {
  const every = sql`SELECT generate_series(0, cardinality(e.zones) - 1) AS zone FROM audit_blocks e WHERE e.block = b.block`;
  if (lookups.length === 0) return every;
  const each = lookups.map(({ field, absent }, index) => {
    const values = sql`audit_block_values v WHERE v.block = b.block AND v.field = ${sql.lit(field)}`;
    const found = sql`
      SELECT (e & 65535)::integer AS zone FROM ${sql.ref(`wanted_${index}`)} w
        CROSS JOIN LATERAL (SELECT v.entries || '{}' AS entries FROM ${values} AND v.bucket = w.bucket OFFSET 0) v
        CROSS JOIN LATERAL unnest(v.entries[width_bucket(w.least, v.entries) + (CASE WHEN v.entries[width_bucket(w.least, v.entries)] = w.least THEN 0 ELSE 1 END) : width_bucket(w.most, v.entries)]) AS e`;
    const more = absent ? sql` UNION ALL ${every} AND EXISTS (SELECT FROM ${values} AND v.bucket = -1)` : sql``;
    const unknown = ofHeaders({ field }) ? sql` UNION ALL ${every} AND NOT b.headers` : sql``;
    return sql`(${found}${more}${unknown})`;
  });
  return sql.join(each, sql` INTERSECT `);
}

/** Merges ranges that touch or overlap; they must be sorted. */
function merged(ranges: readonly IdRange[]): IdRange[] {
  const out: IdRange[] = [];
  for (const range of ranges) {
    const last = out.at(-1);
    if (last !== undefined && range.from <= last.to && last.from <= range.to) {
      out[out.length - 1] = { from: range.from < last.from ? range.from : last.from, to: range.to > last.to ? range.to : last.to };
    } else out.push(range);
  }
  return out;
}
