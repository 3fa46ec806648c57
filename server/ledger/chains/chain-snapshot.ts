import { openCheckpoint } from "@gatehouse/ledger-format/checkpoint";
import type { CheckpointLine } from "@gatehouse/ledger-format/checkpoint-trail";
import type { ExportLine } from "@gatehouse/ledger-format/export";
import type { AuditRow, FieldName } from "@gatehouse/ledger-format/fields";
import type { SealedRow } from "@gatehouse/ledger-format/sealed-row";
import { sql } from "kysely";
import { auditLine } from "../../store/ledger/audit-columns.ts";
import type { Database } from "../../store/database.ts";
import { type HeldConnection, holdConnection } from "../../store/connections/held-connection.ts";
import { readChainFacts } from "./chain-facts.ts";
import { chainReading } from "./chain-readings.ts";
import { type ChainRange, type StoredRow, readStoredRows } from "./stored-rows.ts";
import { checkpointBefore, nextCheckpointSeq } from "../checkpoints/checkpoint-reads.ts";

export type ChainLine = Extract<ExportLine, { type: "chain" }>;

/** Rows, checkpoints and what replaces them, in the order a verifier takes them. */
export type ChainEntry =
  | Extract<ExportLine, { type: "checkpoint" | "pruned" }>
  | { readonly type: "row"; readonly row: AuditRow; readonly withheld: boolean }
  /** A row whose values were already found to match its hash. */
  | { readonly type: "proven"; readonly row: SealedRow; readonly withheld: boolean };

export interface ChainReading {
  /** The columns to read. Undefined: those a verification needs; rows may then come as proven. */
  readonly columns?: readonly FieldName[] | undefined;
  /** The tenant of the reader: rows of others and of no tenant are withheld. Undefined withholds none. */
  readonly tenantId?: string | undefined;
  readonly fromSeq?: number | undefined;
  /** Later rows are read only up to the next checkpoint, which anchors the end of the range. */
  readonly toSeq?: number | undefined;
}

interface ChainSnapshot {
  /** `exported_at` is the database's time of the snapshot. */
  readonly chain: ChainLine;
  /** In batches: awaiting each row would cost about as much as verifying it. */
  entries(reading: ChainReading): AsyncGenerator<ChainEntry[]>;
}

// Small enough that the work between two batches hardly delays calls being served.
const BATCH = 500;

/**
 * A consistent snapshot of rows, checkpoints and recorded head, however fast the writer continues. Yields once, or not at all if there is
 * no such chain; the transaction ends with the generator. `tenantId`: the reader's tenant; undefined for a reader of all.
 */
export function readChainSnapshot(db: Database, chainId: string, tenantId: string | undefined): AsyncGenerator<ChainSnapshot> {
  return chainReading(db, tenantId, () => readHeld(db, chainId));
}

async function* readHeld(db: Database, chainId: string): AsyncGenerator<ChainSnapshot> {
  const held = await holdConnection(db);
  let broken = true;
  try {
    const trx = await held.db.startTransaction().setIsolationLevel("repeatable read").setAccessMode("read only").execute();
    try {
      // Lock before the snapshot is taken: otherwise partitions being dropped could be missing from a snapshot in which they still existed.
      await sql`LOCK TABLE audit_rows IN ACCESS SHARE MODE`.execute(trx);
      yield* readSnapshot({ ...held, db: trx }, chainId);
    } finally {
      await trx.rollback().execute();
      broken = false;
    }
  } finally {
    held.release(broken);
  }
}

async function* readSnapshot(held: HeldConnection, chainId: string): AsyncGenerator<ChainSnapshot> {
  // The first statement after the lock takes the snapshot. The transaction may have begun long before, and waited for the lock.
  const { rows } = await sql<{ now: string }>`
    SELECT to_char(statement_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS now`.execute(held.db);
  const facts = await readChainFacts(held.db, chainId);
  if (facts === null) return;
  const chain: ChainLine = { type: "chain", ...facts, exported_at: rows[0]?.now ?? "" };
  yield { chain, entries: (reading) => readEntries(held, chain, reading) };
}

async function* readEntries(held: HeldConnection, chain: ChainLine, reading: ChainReading): AsyncGenerator<ChainEntry[]> {
  const from = reading.fromSeq !== undefined && reading.fromSeq > chain.first_seq ? reading.fromSeq : null;
  const start = from ?? chain.first_seq;
  const trx = held.db;
  const before = start > 1 ? await checkpointBefore(trx, chain.chain_id, start) : null;
  if (before !== null && from !== null) yield [{ type: "checkpoint", chain_seq: before.chain_seq, note: before.note }];
  // Without a checkpoint over exactly the last dropped row, the prefix was not dropped by retention: it is missing.
  if (before !== null && from === null && before.chain_seq === start - 1) {
    const row_hash = openCheckpoint(before.note, []).checkpoint?.rowHash ?? "";
    yield [{ type: "pruned", through_seq: start - 1, row_hash, checkpoint: before.note }];
  }

  const last = reading.toSeq === undefined ? null : await nextCheckpointSeq(trx, chain.chain_id, reading.toSeq);
  const checkpoints = readCheckpoints(trx, chain.chain_id, before?.checkpoint_no ?? 0, last);
  let checkpoint = await checkpoints.next();
  // If no checkpoint covers the row before the range, read that row as well, for the link to it.
  const range = { chainId: chain.chain_id, from: from === null || before?.chain_seq === from - 1 ? from : from - 1, last };
  for await (const rows of reading.columns === undefined ? readStoredRows(held, range) : readRows(trx, range, reading.columns)) {
    const batch: ChainEntry[] = [];
    for (const { row, proven } of rows) {
      // Checkpoints come after all rows of their position: two rows there are a fork, and the checkpoint covers one of them.
      while (!checkpoint.done && checkpoint.value.chain_seq < (row.chain_seq as number)) {
        batch.push({ type: "checkpoint", ...checkpoint.value });
        checkpoint = await checkpoints.next();
      }
      batch.push({ type: proven ? "proven" : "row", row, withheld: reading.tenantId !== undefined && row.tenant_id !== reading.tenantId });
    }
    yield batch;
  }
  for (; !checkpoint.done; checkpoint = await checkpoints.next()) yield [{ type: "checkpoint", ...checkpoint.value }];
}

async function* readCheckpoints(trx: Database, chainId: string, afterNo: number, last: number | null): AsyncGenerator<CheckpointLine> {
  for (let no = afterNo; ;) {
    const { rows } = await sql<CheckpointLine & { no: number }>`
      SELECT checkpoint_no AS no, chain_seq, note FROM audit_checkpoints
      WHERE chain_id = ${chainId} AND checkpoint_no > ${no} AND (${last}::bigint IS NULL OR chain_seq <= ${last}::bigint)
      ORDER BY checkpoint_no LIMIT ${BATCH}`.execute(trx);
    for (const { chain_seq, note } of rows) yield { chain_seq, note };
    if (rows.length < BATCH) return;
    no = rows.at(-1)?.no ?? no;
  }
}

async function* readRows(trx: Database, { chainId, from, last }: ChainRange, columns: readonly FieldName[]): AsyncGenerator<StoredRow[]> {
  const bounds = [sql`chain_id = ${chainId}`];
  if (from !== null) bounds.push(sql`chain_seq >= ${from}`);
  if (last !== null) bounds.push(sql`chain_seq <= ${last}`);
  await sql`DECLARE ledger_rows NO SCROLL CURSOR FOR SELECT ${auditLine(columns)} FROM audit_rows WHERE ${sql.join(bounds, sql` AND `)} ORDER BY chain_seq, audit_rows.id`.execute(
    trx,
  );
  for (;;) {
    const { rows } = await sql<{ line: string }>`FETCH ${sql.lit(BATCH)} FROM ledger_rows`.execute(trx);
    yield rows.map(({ line }) => ({ proven: false, row: rowOf(line, columns) }));
    if (rows.length < BATCH) return;
  }
}

function rowOf(line: string, columns: readonly FieldName[]): AuditRow {
  const row: Record<string, unknown> = {};
  let at = 0;
  for (const values of JSON.parse(line) as readonly (readonly unknown[])[]) {
    for (const value of values) row[columns[at++] as FieldName] = value;
  }
  return row as AuditRow;
}
