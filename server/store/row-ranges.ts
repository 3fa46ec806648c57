import { sql, type RawBuilder } from "kysely";
import type { Database, Trx } from "./database.ts";
import { ABSENT_HASH, type RowLookup } from "./row-lookups.ts";

/** A stretch of ids, its beginning included and its end not. */
export interface IdRange {
  readonly from: string;
  readonly to: string;
}

export interface RangeQuery {
  /** All of them hold for the rows meant. */
  readonly lookups: readonly RowLookup[];
  /** Undefined: of all tenants. */
  readonly tenantId: string | undefined;
  /** ISO 8601: rows whose timestamp is at or after, and before it. */
  readonly since: string | undefined;
  readonly until: string | undefined;
  readonly newestFirst: boolean;
}

/** Stretch of ids that blocks stand for; null without any. */
export async function describedRange(db: Database | Trx): Promise<IdRange | null> {
  const { rows } = await sql<{ from: string | null; to: string | null }>`SELECT min(from_id) AS "from", max(to_id) AS "to" FROM audit_blocks`.execute(db);
  const { from = null, to = null } = rows[0] ?? {};
  return from === null || to === null ? null : { from, to };
}

/**
 * The next stretches, at most `limit` of about a zone each, that may hold rows that match: beyond `cursor`, in the order
 * asked for and overlapping nowhere. Fewer than `limit` before merging means that there are no more: `cursor` is then null.
 */
export async function candidateRanges(db: Database | Trx, query: RangeQuery, cursor: string, limit: number): Promise<{ ranges: IdRange[]; cursor: string | null }> {
  const { newestFirst, since, until } = query;
  const order = sql.raw(newestFirst ? "DESC" : "ASC");
  const beyond = (range: string): RawBuilder<boolean> => (newestFirst ? sql`${sql.ref(`${range}.from_id`)} < ${cursor}` : sql`${sql.ref(`${range}.to_id`)} > ${cursor}`);
  const inWindow = sql`(NOT b.filled OR ((${since ?? null}::timestamptz IS NULL OR b.greatest_timestamp >= ${since ?? null}::timestamptz) AND (${until ?? null}::timestamptz IS NULL OR b.least_timestamp < ${until ?? null}::timestamptz)))`;
  // A late row may stand inside of a zone: the zone comes first, whichever way they are read, and the row adds nothing.
  // The lateral part runs for one block after another until the limit is reached: the order of the blocks is that of the rows.
  const { rows } = await sql<IdRange>`
    WITH ${sql.join(query.lookups.map((lookup, index) => sql`${sql.ref(`wanted_${index}`)} AS MATERIALIZED (SELECT array_agg(h::bigint << 32 | ${tenantBits(query.tenantId, "least")}) AS least, array_agg(h::bigint << 32 | ${tenantBits(query.tenantId, "most")}) AS most, bool_or(h = ${sql.lit(ABSENT_HASH)}) AS absent FROM unnest(${lookup.hashes}) AS h)`).concat(sql`nothing AS (SELECT)`))}
    SELECT z.from_id AS "from", z.to_id AS "to"
    FROM (SELECT * FROM audit_blocks b WHERE ${beyond("b")} AND ${inWindow} ORDER BY b.from_id ${order} OFFSET 0) b
    CROSS JOIN LATERAL (
      SELECT * FROM (
        SELECT b.from_id, b.to_id WHERE NOT b.filled
        UNION ALL SELECT b.zones[zone + 1], coalesce(b.zones[zone + 2], b.to_id) FROM (${zonesOf(query.lookups)}) AS hit WHERE b.filled AND b.zones IS NOT NULL
        UNION ALL SELECT l.id, l.id || ' ' FROM audit_late_rows l WHERE b.filled AND l.id >= b.from_id AND l.id < b.to_id) AS z
      WHERE ${beyond("z")} ORDER BY ${sql.raw(newestFirst ? "z.to_id DESC" : "z.from_id")}) AS z
    LIMIT ${limit}`.execute(db);
  const ranges = merged(rows);
  const last = ranges.at(-1);
  return { ranges, cursor: last === undefined || rows.length < limit ? null : newestFirst ? last.from : last.to };
}

/** Sixteen bits of the tenant's hash, then sixteen for the zone: the least and the greatest entry of a value. */
function tenantBits(tenantId: string | undefined, end: "least" | "most"): RawBuilder<unknown> {
  if (tenantId === undefined) return end === "least" ? sql`0::bigint` : sql`4294967295::bigint`;
  return sql`(((hashtext(${tenantId}::text) & 65535)::bigint << 16) | ${sql.lit(end === "least" ? 0 : 65_535)})`;
}

/** Zones of block `b` in which each lookup has one of its values. */
function zonesOf(lookups: readonly RowLookup[]): RawBuilder<unknown> {
  const every = sql`SELECT generate_series(0, cardinality(b.zones) - 1) AS zone`;
  if (lookups.length === 0) return every;
  const each = lookups.map(
    ({ field }, index) => sql`
      (SELECT (e & 65535)::integer AS zone FROM ${sql.ref(`wanted_${index}`)} w CROSS JOIN LATERAL unnest(w.least, w.most) AS p (least, most)
        JOIN audit_block_values v ON v.block = b.block AND v.field = ${sql.lit(field)} AND v.bucket = (p.least >> 58) + 32
        CROSS JOIN LATERAL unnest(v.entries[width_bucket(p.least, v.entries) + (CASE WHEN v.entries[width_bucket(p.least, v.entries)] = p.least THEN 0 ELSE 1 END) : width_bucket(p.most, v.entries)]) AS e
      UNION ${every} WHERE EXISTS (SELECT FROM ${sql.ref(`wanted_${index}`)} w JOIN audit_block_values v ON v.block = b.block AND v.field = ${sql.lit(field)} AND v.bucket = -1 WHERE w.absent))`,
  );
  return sql.join(each, sql` INTERSECT `);
}

/** Ranges that touch or overlap as one; they come in an order. */
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
