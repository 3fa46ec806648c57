import { sql, type RawBuilder } from "kysely";
import type { Database, Trx } from "../database.ts";
import { candidateRanges, describedRange, type IdRange, type RangeQuery } from "./row-ranges.ts";

/** A search of `audit_rows`: `conditions` define which rows match, the rest narrows down where to look for them. */
export interface RowSearch extends RangeQuery {
  readonly conditions: readonly RawBuilder<boolean>[];
}

/** Zones requested at once. For a value that all rows have, the fewest are enough to count as far as is ever counted. */
const MIN_ZONES = 24;
const MAX_ZONES = 512;
/** Limits scanning only for the count to a few thousand rows, however many match. */
const COUNTED_ZONES = 48;

type Bounds = { readonly from: string | null; readonly to: string | null };

/** Returns how many zones to scan next, given how many were scanned. */
type Pace = (examined: number) => number;

/**
 * Yields ranges where matching rows may be, in the requested order, beyond the row `after`. Ranges not covered by blocks are included
 * whole: rows of the last seconds, and rows older than all blocks.
 */
async function* stretches(db: Database | Trx, search: RowSearch, after: string | null, pace: Pace): AsyncGenerator<readonly Bounds[]> {
  const { newestFirst } = search;
  const clipped = (bounds: Bounds): Bounds => (after === null ? bounds : beyond(bounds, after, newestFirst));
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
  for (let examined = 0; cursor !== null && !isEmpty(within);) {
    const zones = pace(examined);
    const next: { ranges: IdRange[]; cursor: string | null } = await candidateRanges(db, search, cursor, zones);
    examined += zones;
    const ranges = next.ranges.map(clipped).filter((range) => !isEmpty(range));
    if (ranges.length > 0) yield ranges;
    cursor = next.cursor;
  }
  if (!isEmpty(newestFirst ? below : above)) yield [newestFirst ? below : above];
}

/** The part of a range beyond the row `after`. */
function beyond({ from, to }: Bounds, after: string, newestFirst: boolean): Bounds {
  return newestFirst
    ? { from, to: to === null || after < to ? after : to }
    : { from: from === null || `${after} ` > from ? `${after} ` : from, to };
}

const isEmpty = ({ from, to }: Bounds): boolean => from !== null && to !== null && from >= to;

/** IDs of the next `wanted` matching rows beyond the row `after`, in the requested order. */
export async function matchingIds(db: Database | Trx, search: RowSearch, after: string | null, wanted: number): Promise<string[]> {
  const ids: string[] = [];
  for await (const bounds of stretches(db, search, after, (examinedRows) => zonesFor(wanted - ids.length, ids.length, examinedRows))) {
    ids.push(...(await idsIn(db, search, bounds, wanted - ids.length)));
    if (ids.length >= wanted) break;
  }
  return ids;
}

/** IDs read at once, so that a page far back costs time but no memory. */
const MAX_READ = 10_000;

/**
 * IDs of the first `wanted` matching rows after skipping `skip`, and the number of matches. Counting goes on up to `counted` while that
 * scans no more than a few thousand rows; `exact` is false if there may be more.
 */
export async function firstMatching(
  db: Database | Trx,
  search: RowSearch,
  { skip, wanted, counted }: { readonly skip: number; readonly wanted: number; readonly counted: number },
): Promise<{ ids: string[]; total: number; exact: boolean }> {
  const ids: string[] = [];
  const needed = skip + wanted;
  const most = Math.max(needed, counted);
  let found = 0;
  let zones = 0;
  const pace: Pace = (examinedRows) => {
    const missing = needed - found;
    zones = examinedRows + (missing > 0 ? zonesFor(missing, found, examinedRows) : Math.max(1, COUNTED_ZONES - examinedRows));
    return zones - examinedRows;
  };
  for await (const stretch of stretches(db, search, null, pace)) {
    for (let bounds = stretch; bounds.length > 0;) {
      const limit = Math.min(MAX_READ, most + 1 - found);
      const next = await idsIn(db, search, bounds, limit);
      ids.push(...next.slice(Math.max(0, skip - found), Math.max(0, needed - found)));
      found += next.length;
      if (found > most) return { ids, total: most, exact: false };
      const last = next.length < limit ? undefined : next.at(-1);
      bounds = last === undefined ? [] : bounds.map((one) => beyond(one, last, search.newestFirst)).filter((one) => !isEmpty(one));
    }
    if (found >= needed && zones >= COUNTED_ZONES) return { ids, total: found, exact: false };
  }
  return { ids, total: found, exact: true };
}

/**
 * How many zones likely hold `missing` more rows, given `found` rows in `examined` zones. Nearly every candidate zone has a row with each
 * value, but perhaps none with two values at once, so the number doubles if it was not enough.
 */
function zonesFor(missing: number, found: number, examined: number): number {
  const each = examined === 0 ? Number.POSITIVE_INFINITY : Math.max(1, found / examined);
  return Math.min(MAX_ZONES, Math.max(MIN_ZONES, examined, Math.ceil((missing / each) * 1.2)));
}

async function idsIn(db: Database | Trx, search: RowSearch, bounds: readonly Bounds[], wanted: number): Promise<string[]> {
  const { rows } = await sql<{
    id: string;
  }>`SELECT id FROM (${rowsIn(bounds, search, wanted)}) AS found ORDER BY id ${orderOf(search)} LIMIT ${wanted}`.execute(db);
  return rows.map((row) => row.id);
}

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
