import { pipeline } from "node:stream/promises";
import { Readable } from "node:stream";
import type pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { type Database, poolOf } from "../database.ts";
import { LOCK_AGAINST_ERASURE } from "../people/erasure-lock.ts";
import { prepared } from "../connections/prepared.ts";
import { type ShippingContext, addToTotals } from "./shipped-rows.ts";

/** What one transaction moves from a writer's journal into the tables. Offsets are bytes into a numbered segment. */
export interface AuditShipment {
  readonly chainId: string;
  readonly writer: string;
  readonly from: { readonly segment: number; readonly offset: number };
  readonly to: { readonly segment: number; readonly offset: number };
  /** Position of the first row; null when there is none. */
  readonly firstSeq: number | null;
  /** Least and greatest id of the rows: they say which partitions need not be looked at. Null when there is no row. */
  readonly idRange: { readonly least: string; readonly most: string } | null;
  /** Last row shipped; null when there is none. */
  readonly head: { readonly seq: number; readonly hash: string } | null;
  /** Lines of `audit_rows` in COPY's text format, each with its line feed, dense in the chain. */
  readonly rows: readonly Buffer[];
  /** The same one behind the other. */
  readonly text: Buffer;
  readonly columns: readonly string[];
  /** Ids of `rows`, when some of them may be in the table already: those are then passed over. */
  readonly ids: readonly string[] | null;
  /** JSON array of `audit_checkpoints`. */
  readonly checkpoints: string;
}

// Nothing is written unless the chain still stands where the shipment begins, so that sending it twice after a
// connection was cut at COMMIT changes nothing. The row lock keeps a second writer waiting until then.
const MOVE = `
  UPDATE audit_chains SET
    shipped_segment = $5::bigint, shipped_offset = $6::bigint, updated_at = now(),
    head_hash = CASE WHEN $7::bigint > head_seq THEN $8::text ELSE head_hash END,
    head_seq = greatest(head_seq, $7::bigint),
    last_checkpoint_seq = greatest(last_checkpoint_seq, (SELECT max(chain_seq) FROM json_populate_recordset(null::audit_checkpoints, $9::json)))
  WHERE chain_id = $1::text AND writer = $2::text AND shipped_segment = $3::bigint AND shipped_offset = $4::bigint
  RETURNING (SELECT max(to_id) FROM audit_blocks) AS blocks_end, EXISTS (SELECT FROM data_erasures) AS has_erasures, (SELECT max(reduced_before) FROM audit_retention) AS reduced_before`;

// The statements below are planned once for each connection, when the tables may have been all but empty, and must stay
// right as they grow: they go by indexes. Before PostgreSQL 18 a scan that is off and used all the same counts as dear
// enough to be compiled (JIT), which takes a hundred times as long as the statement.
const BEGIN =
  `BEGIN; SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL enable_seqscan = off; SET LOCAL jit = off; ` +
  `${LOCK_AGAINST_ERASURE}`;

// Another one of the number is the stand-in that a backup was given, in a database restored from it: the next names this one.
const ADD_CHECKPOINTS =
  "INSERT INTO audit_checkpoints AS k SELECT c.* FROM json_populate_recordset(null::audit_checkpoints, $1::json) c ON " +
  "CONFLICT (chain_id, checkpoint_no) DO UPDATE SET chain_seq = excluded.chain_seq, note = excluded.note, signed_at = excluded.signed_at " +
  "WHERE k.note <> excluded.note";

const READ_ONLY = "25006";

/** What was found of rows as they were stored: whether some are of subjects that were erased before. */
export interface ShippedRows {
  readonly erased: boolean;
}

/** Null when the chain stands elsewhere or has another writer; then nothing was written. */
export async function shipAuditRows(db: Database, shipment: AuditShipment): Promise<ShippedRows | null> {
  const client = await poolOf(db).connect();
  let failure: Error | undefined;
  try {
    await client.query(BEGIN);
    const moved = await ship(client, shipment);
    await client.query(moved === null ? "ROLLBACK" : "COMMIT");
    return moved;
  } catch (error) {
    failure = error as Error;
    await client.query("ROLLBACK").catch(() => undefined);
    throw error;
  } finally {
    // A connection that failed in the middle is not used again: what it was told last is unknown. Nor is one to a server
    // that takes no writes: after a failover, a new one reaches another.
    const code = (failure as { code?: string } | undefined)?.code;
    client.release(failure !== undefined && (code === undefined || code === READ_ONLY));
  }
}

async function ship(client: pg.PoolClient, shipment: AuditShipment): Promise<ShippedRows | null> {
  const { chainId, writer, from, to, head, firstSeq, checkpoints } = shipment;
  const {
    rows: [found],
  } = await client.query<ShippingContext>(
    prepared(MOVE, [chainId, writer, from.segment, from.offset, to.segment, to.offset, head?.seq ?? null, head?.hash ?? null, checkpoints]),
  );
  if (found === undefined) return null;
  let erased = false;
  const leastId = shipment.idRange?.least ?? "";
  if (shipment.ids === null) {
    await copyRows(client, shipment.columns, shipment.text);
    if (head !== null)
      erased = await addToTotals(
        client,
        "a.chain_id = $1 AND a.chain_seq BETWEEN $2 AND $3 AND a.id BETWEEN $4 AND $5",
        [chainId, firstSeq, head.seq, leastId, shipment.idRange?.most],
        leastId,
        found,
      );
  } else {
    const there = await storedAmong(client, shipment.ids);
    const missing = shipment.ids.filter((id) => !there.has(id));
    await copyRows(
      client,
      shipment.columns,
      Buffer.concat(shipment.rows.filter((_, index) => !there.has(shipment.ids?.[index] as string))),
    );
    erased = await addToTotals(client, "a.id = ANY($1)", [missing], leastId, found);
  }
  if (checkpoints !== "[]") await client.query(ADD_CHECKPOINTS, [checkpoints]);
  return { erased };
}

async function storedAmong(client: pg.Pool | pg.PoolClient, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await client.query<{ id: string }>("SELECT id FROM audit_rows WHERE id = ANY($1)", [ids]);
  return new Set(rows.map(({ id }) => id));
}

/** Which of the ids are of rows that are stored. */
export function storedIds(db: Database, ids: readonly string[]): Promise<Set<string>> {
  return storedAmong(poolOf(db), ids);
}

async function copyRows(client: pg.PoolClient, columns: readonly string[], text: Buffer): Promise<void> {
  if (text.length === 0) return;
  // They come from a file: names are all they may be.
  if (!columns.every((name) => /^[a-z0-9_]+$/.test(name))) throw new Error("a segment of the audit journal names columns no release had");
  await pipeline(Readable.from([text]), client.query(copyFrom(`COPY audit_rows (${columns.join(", ")}) FROM STDIN`)));
}
