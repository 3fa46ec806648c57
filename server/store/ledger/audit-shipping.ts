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
  /** Chain position of the first row; null if there are no rows. */
  readonly firstSeq: number | null;
  /** Least and greatest ID of the rows, to rule out partitions; null if there are no rows. */
  readonly idRange: { readonly least: string; readonly most: string } | null;
  /** The last row shipped; null if there are no rows. */
  readonly head: { readonly seq: number; readonly hash: string } | null;
  /** Lines of `audit_rows` in COPY's text format, each with its line feed, consecutive in the chain. */
  readonly rows: readonly Buffer[];
  /** The same lines concatenated. */
  readonly text: Buffer;
  readonly columns: readonly string[];
  /** IDs of `rows` if some of them may already be stored; those are skipped. */
  readonly ids: readonly string[] | null;
  /** JSON array of `audit_checkpoints`. */
  readonly checkpoints: string;
}

// Writes nothing unless the chain is where the shipment begins, so that repeating it after a connection was lost at COMMIT changes nothing.
// The row lock makes a second writer wait until then.
const MOVE = `
  UPDATE audit_chains SET
    shipped_segment = $5::bigint, shipped_offset = $6::bigint, updated_at = now(),
    head_hash = CASE WHEN $7::bigint > head_seq THEN $8::text ELSE head_hash END,
    head_seq = greatest(head_seq, $7::bigint),
    last_checkpoint_seq = greatest(last_checkpoint_seq, (SELECT max(chain_seq) FROM json_populate_recordset(null::audit_checkpoints, $9::json)))
  WHERE chain_id = $1::text AND writer = $2::text AND shipped_segment = $3::bigint AND shipped_offset = $4::bigint
  RETURNING (SELECT max(to_id) FROM audit_blocks) AS blocks_end, EXISTS (SELECT FROM data_erasures) AS has_erasures, (SELECT max(reduced_before) FROM audit_retention) AS reduced_before`;

// Each connection plans the statements below once, when the tables may be almost empty, and the plans must stay good as they grow: they use
// indexes. Before PostgreSQL 18 a disabled scan that is used all the same counts as expensive enough for JIT compilation, which takes a
// hundred times as long as the statement.
const BEGIN =
  `BEGIN; SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL enable_seqscan = off; SET LOCAL jit = off; ` +
  `${LOCK_AGAINST_ERASURE}`;

// In a database restored from a backup, a stand-in written for the backup may have this number; the next checkpoint refers to this one.
const ADD_CHECKPOINTS =
  "INSERT INTO audit_checkpoints AS k SELECT c.* FROM json_populate_recordset(null::audit_checkpoints, $1::json) c ON " +
  "CONFLICT (chain_id, checkpoint_no) DO UPDATE SET chain_seq = excluded.chain_seq, note = excluded.note, signed_at = excluded.signed_at " +
  "WHERE k.note <> excluded.note";

const READ_ONLY = "25006";

/** Findings about newly stored rows: whether some belong to subjects that were erased before. */
export interface ShippedRows {
  readonly erased: boolean;
}

/** Null if the chain is at another position or has another writer; nothing is written then. */
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
    // A connection that failed midway is not reused, because its state is unknown. Nor is one to a read-only server: after a failover, a
    // new connection reaches another server.
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

/** Those of the IDs whose rows are stored. */
export function storedIds(db: Database, ids: readonly string[]): Promise<Set<string>> {
  return storedAmong(poolOf(db), ids);
}

async function copyRows(client: pg.PoolClient, columns: readonly string[], text: Buffer): Promise<void> {
  if (text.length === 0) return;
  // They come from a file, so only plain names are allowed.
  if (!columns.every((name) => /^[a-z0-9_]+$/.test(name))) throw new Error("a segment of the audit journal names columns no release had");
  await pipeline(Readable.from([text]), client.query(copyFrom(`COPY audit_rows (${columns.join(", ")}) FROM STDIN`)));
}
