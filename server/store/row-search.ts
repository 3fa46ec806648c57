import { sql, type RawBuilder } from "kysely";
import type { Database, Trx } from "./database.ts";
import { candidateRanges, describedRange, type IdRange, type RangeQuery } from "./row-ranges.ts";

/** A search of `audit_rows`: `conditions` say which rows match; the rest says where to look for them. */
export interface RowSearch extends RangeQuery {
  readonly conditions: readonly RawBuilder<boolean>[];
}

/** Stretches of about a zone asked for at first, and at most: a common value needs few of them, a rare one all there are. */
const FIRST_ZONES = 8;
const MOST_ZONES = 512;

type Bounds = { readonly from: string | null; readonly to: string | null };

/**
 * Where matching rows may be, stretch after stretch in the order asked for, beyond the row `after`. What no block
 * describes is there whole: the rows of the last seconds, and rows older than all blocks.
 */
async function* stretches(db: Database | Trx, search: RowSearch, after: string | null): AsyncGenerator<readonly Bounds[]> {
  const { newestFirst } = search;
  const clipped = ({ from, to }: Bounds): Bounds => {
    if (after === null) return { from, to };
    return newestFirst ? { from, to: to === null || after < to ? after : to } : { from: from === null || `${after} ` > from ? `${after} ` : from, to };
  };
  const selective = search.lookups.length > 0 || search.since !== undefined || search.until !== undefined;
  const described = selective ? await describedRange(db) : null;
  if (described === null) {
    yield [clipped({ from: null, to: null })];
    return;
  }
  const above = clipped({ from: described.to, to: null });
  const below = clipped({ from: null, to: described.from });
  if (!isEmpty(newestFirst ? above : below)) yield [newestFirst ? above : below];
  const within = clipped(described);
  let cursor = newestFirst ? within.to : within.from;
  for (let zones = FIRST_ZONES; cursor !== null && !isEmpty(within); zones = Math.min(MOST_ZONES, zones * 4)) {
    const next: { ranges: IdRange[]; cursor: string | null } = await candidateRanges(db, search, cursor, zones);
    const ranges = next.ranges.map(clipped).filter((range) => !isEmpty(range));
    if (ranges.length > 0) yield ranges;
    cursor = next.cursor;
  }
  if (!isEmpty(newestFirst ? below : above)) yield [newestFirst ? below : above];
}

const isEmpty = ({ from, to }: Bounds): boolean => from !== null && to !== null && from >= to;

/** Ids of the next `wanted` rows that match beyond the row `after`, in the order asked for. */
export async function matchingIds(db: Database | Trx, search: RowSearch, after: string | null, wanted: number): Promise<string[]> {
  const ids: string[] = [];
  for await (const bounds of stretches(db, search, after)) {
    const { rows } = await sql<{ id: string }>`SELECT id FROM (${rowsIn(bounds, search, wanted - ids.length)}) AS found ORDER BY id ${orderOf(search)} LIMIT ${wanted - ids.length}`.execute(db);
    for (const row of rows) ids.push(row.id);
    if (ids.length >= wanted) break;
  }
  return ids;
}

/**
 * How many rows match, counted up to `most` and for a bounded time only: `exact` is false where there may be more. It looks
 * at a multiple of a few thousand rows, however many there are.
 */
export async function countMatching(db: Database | Trx, search: RowSearch, most: number): Promise<{ total: number; exact: boolean }> {
  let total = 0;
  let looks = 0;
  for await (const bounds of stretches(db, search, null)) {
    if (looks++ > MOST_LOOKS) return { total, exact: false };
    const { rows } = await sql<{ total: number }>`SELECT count(*) AS total FROM (SELECT FROM (${rowsIn(bounds, search, most - total + 1)}) AS stretches LIMIT ${most - total + 1}) AS found`.execute(db);
    total += rows[0]?.total ?? 0;
    if (total > most) return { total: most, exact: false };
  }
  return { total, exact: true };
}

/** The described stretches among them come to 8 + 32 + 128 zones. */
const MOST_LOOKS = 3;

const orderOf = (search: RowSearch) => sql.raw(search.newestFirst ? "DESC" : "ASC");

function rowsIn(bounds: readonly Bounds[], search: RowSearch, wanted: number): RawBuilder<unknown> {
  const conditions = [...search.conditions];
  const [only] = bounds;
  if (only !== undefined && bounds.length === 1) {
    if (only.from !== null) conditions.push(sql<boolean>`audit_rows.id >= ${only.from}`);
    if (only.to !== null) conditions.push(sql<boolean>`audit_rows.id < ${only.to}`);
    return sql`SELECT audit_rows.id FROM audit_rows ${whereAll(conditions)} ORDER BY audit_rows.id ${orderOf(search)} LIMIT ${wanted}`;
  }
  conditions.push(sql<boolean>`audit_rows.id >= stretch.least COLLATE "C"`, sql<boolean>`audit_rows.id < stretch.beyond COLLATE "C"`);
  return sql`
    SELECT found.id FROM unnest(${bounds.map(({ from }) => from)}::text[], ${bounds.map(({ to }) => to)}::text[]) AS stretch (least, beyond)
    CROSS JOIN LATERAL (SELECT audit_rows.id FROM audit_rows ${whereAll(conditions)} ORDER BY audit_rows.id ${orderOf(search)} LIMIT ${wanted}) AS found`;
}

function whereAll(conditions: readonly RawBuilder<boolean>[]): RawBuilder<unknown> {
  return conditions.length === 0 ? sql`` : sql`WHERE ${sql.join(conditions, sql` AND `)}`;
}
