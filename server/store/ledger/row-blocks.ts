import { FIELDS, type FieldName } from "@gatehouse/ledger-format/fields";
import { sql } from "kysely";
import type pg from "pg";
import type { Database, Trx } from "../database.ts";
import { LOCK } from "../people/erasure-lock.ts";
import { ABSENT_HASH, LOOKED_UP, hashOfColumn, termsOfColumn } from "./row-lookups.ts";

/** In rows. A zone is scanned whole for one value; rows above the last block are scanned one by one. */
export interface BlockSizes {
  readonly block: number;
  readonly zone: number;
}

const SIZES: BlockSizes = { block: 8_192, zone: 64 };

/** A row arrives when its call ends, so rows of calls that began earlier than the newest one come later. Those are late to their block. */
const CLOSED_AFTER_MS = 10_000;
/** Limits a run, so that it stops soon when asked to and leaves the database to others during a long backlog. */
const MAX_AT_ONCE = 16;
const REFILL_AFTER_MS = 5 * 60_000;
const MAX_LATE = 512;

const NUMBERED = (names: readonly FieldName[], zone: number) => `
  SELECT ${names.map((name) => `a.${name}`).join(", ")}, (hashtext(coalesce(a.tenant_id, '')) & 65535)::bigint << 16 | (row_number() OVER (ORDER BY a.id) - 1) / ${zone} AS k
  FROM audit_rows a WHERE a.id >= $2 AND a.id < $3`;

/** Which fields the rows of a block have, and whether all rows have them. Fields that no row has are skipped in the pass over the rows. */
const PRESENCE = `SELECT count(*) AS rows, ${LOOKED_UP.map((name) => `count(a.${name}) AS ${name}`).join(", ")} FROM audit_rows a WHERE a.id >= $2 AND a.id < $3`;

const entry = (hash: string): string => `(${hash})::bigint << 32 | r.k`;

function entriesOf(name: FieldName, sometimesAbsent: boolean): string {
  if (FIELDS[name].type !== "json")
    return `SELECT array_agg(DISTINCT ${entry(sometimesAbsent ? `coalesce(${hashOfColumn(name, `r.${name}`)}, ${ABSENT_HASH})` : hashOfColumn(name, `r.${name}`))}) FROM r`;
  const absent = sometimesAbsent ? `SELECT ${entry(`${ABSENT_HASH}`)} AS e FROM r WHERE r.${name} IS NULL UNION ALL ` : "";
  // Most terms of a zone also occur in its other rows, so sorting only the distinct ones is cheaper.
  return `SELECT array_agg(e ORDER BY e) FROM (SELECT DISTINCT e FROM (${absent}SELECT ${entry("t.term")} AS e FROM r ${termsOfColumn(name, `r.${name}`)}) terms) each`;
}

/** Entries are sorted, so those of one bucket are adjacent. */
function fillStatement(present: readonly FieldName[], zone: number, sometimesAbsent: (name: FieldName) => boolean): string {
  const plain = present.filter((name) => FIELDS[name].type !== "json");
  const json = present.filter((name) => FIELDS[name].type === "json");
  const aggregates = plain.map((name) => `${entriesOf(name, sometimesAbsent(name)).slice("SELECT ".length, -" FROM r".length)} AS ${name}`);
  const fields = [
    ...plain.map((name) => `('${name}', found.${name})`),
    ...json.map((name) => `('${name}', (${entriesOf(name, sometimesAbsent(name))}))`),
  ];
  return `
    WITH r AS MATERIALIZED (${NUMBERED(present, zone)}), found AS MATERIALIZED (SELECT ${aggregates.join(", ")} FROM r)
    INSERT INTO audit_block_values
    SELECT $1::bigint, s.field, s.bucket, s.entries[s.after + 1 : s.through] FROM (
      SELECT f.field, bucket, f.entries,
        CASE WHEN bucket = 0 THEN 0 ELSE width_bucket(((bucket - 32)::bigint << 58) - 1, f.entries) END AS after,
        CASE WHEN bucket = 63 THEN cardinality(f.entries) ELSE width_bucket(((bucket - 31)::bigint << 58) - 1, f.entries) END AS through
      FROM found CROSS JOIN LATERAL (VALUES ${fields.join(", ")}) AS f (field, entries) CROSS JOIN generate_series(0, 63) AS bucket
      WHERE f.entries IS NOT NULL OFFSET 0) AS s
    WHERE s.through > s.after`;
}

const zonesStatement = (zone: number): string => `
  UPDATE audit_blocks SET filled = true, headers = true, (zones, least_timestamp, greatest_timestamp) = (
    SELECT array_agg(least_id ORDER BY zone), min(least), max(greatest) FROM (
      SELECT zone, min(id) AS least_id, min(timestamp) AS least, max(timestamp) AS greatest
      FROM (SELECT id, timestamp, (row_number() OVER (ORDER BY id) - 1) / ${zone} AS zone FROM audit_rows a WHERE a.id >= $2 AND a.id < $3) numbered GROUP BY zone) zones)
  WHERE block = $1`;

/** A range of IDs, excluding the last. */
interface Stretch {
  readonly from: string;
  readonly to: string;
}

interface Block {
  readonly block: number;
  readonly from_id: string;
  readonly to_id: string;
}

/**
 * Closes blocks for new rows, and describes those not described yet or to which many rows were late. Idempotent, and safe to run in several
 * processes at once. Newest blocks come first. Returns how many it described.
 */
export async function describeRows(db: Database, now: Date, sizes: BlockSizes = SIZES): Promise<number> {
  for (let described = 0, round = 0; ; round++) {
    if (round === MAX_AT_ONCE) return described;
    const closed = await closeBlock(db, new Date(now.getTime() - CLOSED_AFTER_MS), sizes);
    const filled = await fillNext(db, new Date(now.getTime() - REFILL_AFTER_MS), sizes);
    if (filled) described++;
    if (!closed && !filled) return described;
  }
}

/**
 * Makes PostgreSQL read rows by ID, no further than needed. After many rows have just arrived, its statistics would lead to plans that read
 * all of them for each block. PostgreSQL 15 does not have the last setting, nor the feature it disables.
 */
const BY_IDS = sql`
  SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL jit = off;
  SELECT set_config('enable_presorted_aggregate', 'off', true) WHERE current_setting('enable_presorted_aggregate', true) IS NOT NULL`;

/** Closes one block of rows that arrived before `before`: above the others, or below them if older rows were added. */
async function closeBlock(db: Database, before: Date, sizes: BlockSizes): Promise<boolean> {
  const stretch = await db.transaction().execute(async (trx) => {
    await BY_IDS.execute(trx);
    return nextStretch(trx, before, sizes.block);
  });
  if (stretch === null) return false;
  // Taken exclusively for a moment, so that a shipment in progress is either seen when the block is described, or sees the block.
  await db.transaction().execute(async (trx) => {
    await sql`SELECT pg_advisory_xact_lock(${sql.lit(LOCK)})`.execute(trx);
    await sql`
      INSERT INTO audit_blocks (from_id, to_id) SELECT ${stretch.from}, ${stretch.to}
      WHERE NOT EXISTS (SELECT FROM audit_blocks WHERE from_id < ${stretch.to} AND to_id > ${stretch.from})`.execute(trx);
  });
  return true;
}

/** The range of the next block, before `before`; null if there are too few rows. */
async function nextStretch(trx: Trx, before: Date, size: number): Promise<Stretch | null> {
  const { rows: edges } = await sql<{
    least: string | null;
    greatest: string | null;
    before: string;
  }>`SELECT min(from_id) AS least, max(to_id) AS greatest, audit_id_floor(${before}) AS before FROM audit_blocks`.execute(trx);
  const edge = edges[0] as { least: string | null; greatest: string | null; before: string };
  const above = edge.greatest === null ? null : await nth(trx, sql`id >= ${edge.greatest} AND id < ${edge.before}`, "ASC", size);
  return above === null ? stretchBelow(trx, edge.least, edge.before, size) : { from: edge.greatest as string, to: above };
}

/** The range directly below all blocks: a full block, or all rows there are. The first block ends with a row before `before`. */
async function stretchBelow(trx: Trx, edge: string | null, before: string, size: number): Promise<Stretch | null> {
  const newest = edge === null ? await nth(trx, sql`id < ${before}`, "DESC", 0) : null;
  const to = edge ?? (newest === null ? null : `${newest} `);
  if (to === null) return null;
  const from = (await nth(trx, sql`id < ${to}`, "DESC", size - 1)) ?? (edge === null ? null : await nth(trx, sql`id < ${to}`, "ASC", 0));
  return from === null ? null : { from, to };
}

async function nth(trx: Trx, where: ReturnType<typeof sql>, order: "ASC" | "DESC", offset: number): Promise<string | null> {
  const { rows } = await sql<{
    id: string;
  }>`SELECT id FROM audit_rows WHERE ${where} ORDER BY id ${sql.raw(order)} OFFSET ${offset} LIMIT 1`.execute(trx);
  return rows[0]?.id ?? null;
}

/** Describes one block: one not described yet, one to which a row was late before `before`, or one to which very many were. */
async function fillNext(db: Database, before: Date, sizes: BlockSizes): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<Block>`
      SELECT block, from_id, to_id FROM audit_blocks b
      WHERE NOT filled OR NOT headers OR block IN (
        SELECT l.block FROM audit_late_rows r JOIN audit_blocks l ON r.id >= l.from_id AND r.id < l.to_id
        GROUP BY l.block, l.to_id HAVING l.to_id < audit_id_floor(${before}) OR count(*) > ${MAX_LATE})
      ORDER BY filled, headers, from_id DESC LIMIT 1 FOR UPDATE SKIP LOCKED`.execute(trx);
    const [block] = rows;
    if (block === undefined) return false;
    // Done before reading the rows, so that a row arriving late meanwhile stays marked.
    await sql`DELETE FROM audit_late_rows WHERE id >= ${block.from_id} AND id < ${block.to_id}`.execute(trx);
    await sql`DELETE FROM audit_block_values WHERE block = ${block.block}`.execute(trx);
    await sql`SET LOCAL work_mem = '64MB'`.execute(trx);
    await BY_IDS.execute(trx);
    const counted = await statement(PRESENCE, block).execute(trx);
    const counts = counted.rows[0] as Readonly<Record<FieldName | "rows", number>>;
    const present = LOOKED_UP.filter((name) => counts[name] > 0);
    if (present.length > 0)
      await statement(
        fillStatement(present, sizes.zone, (name) => counts[name] < counts.rows),
        block,
      ).execute(trx);
    const absent = LOOKED_UP.filter((name) => counts[name] === 0);
    await sql`INSERT INTO audit_block_values SELECT ${block.block}, field, -1, '{}' FROM unnest(${absent}::text[]) AS field`.execute(trx);
    await statement(zonesStatement(sizes.zone), block).execute(trx);
    return true;
  });
}

/** The statement with its three parameters: number, first ID and end of the block. */
function statement(text: string, { block, from_id: from, to_id: to }: Block) {
  const values = [sql`${block}`, sql`${from}`, sql`${to}`];
  const parts = text.split(/\$([123])/);
  return sql.join(
    parts.map((part, index) => (index % 2 === 0 ? sql.raw(part) : (values[Number(part) - 1] as ReturnType<typeof sql>))),
    sql``,
  );
}

/** Records which newly stored rows belong to blocks already closed, which end at `blocksEnd`. `which` is a condition on `audit_rows a`. */
export async function noteLateRows(client: pg.PoolClient, which: string, parameters: readonly unknown[], blocksEnd: string): Promise<void> {
  await client.query(
    `INSERT INTO audit_late_rows SELECT a.id FROM audit_rows a WHERE ${which} AND a.id < $${parameters.length + 1} ON CONFLICT DO NOTHING`,
    [...parameters, blocksEnd],
  );
}
