import { pipeline } from "node:stream/promises";
import { Readable } from "node:stream";
import { sql } from "kysely";
import type pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { type Database, poolOf } from "./database.ts";
import { LOCK_AGAINST_ERASURE } from "./erasure-lock.ts";
import { eraseArrivals } from "./erasure.ts";
import { MADE_BY_CALLER } from "./own-calls.ts";
import { prepared } from "./prepared.ts";
import { noteLateRows } from "./row-blocks.ts";
import { addRowsToRuns } from "./run-shipping.ts";
import { ADD_TOOL_USAGE } from "./tool-usage.ts";

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
  WHERE chain_id = $1::text AND writer = $2::text AND shipped_segment = $3::bigint AND shipped_offset = $4::bigint`;

// What traces tell is a claim and no consumption.
// Usage rows are taken in the order of their key: two writers that add to the same ones cannot deadlock.
// The totals of the day are added first, from the same rows and in the same statement. Limits go by them: their requests
// are those of callers.
const ADD_USAGE = (which: string) => `
  WITH fresh AS (
  SELECT tenant_id, date_trunc('hour', timestamp, 'UTC') AS hour, coalesce(resource_group_id, '') AS resource_group_id, coalesce(api_key_id, '') AS api_key_id, llm_model_used,
    count(*) AS requests, count(*) FILTER (WHERE success IS FALSE) AS errors, coalesce(sum(llm_prompt_tokens), 0) AS prompt_tokens, coalesce(sum(llm_completion_tokens), 0) AS completion_tokens,
    coalesce(sum(round(llm_estimated_cost_usd * 1000000)), 0) AS cost_micro_usd,
    count(*) FILTER (WHERE llm_estimated_cost_usd IS NULL AND coalesce(llm_total_tokens, llm_prompt_tokens, llm_completion_tokens) > 0) AS unpriced_requests,
    count(*) FILTER (WHERE ${MADE_BY_CALLER}) AS made_by_callers, coalesce(sum((custom_metadata->>'tool_results')::bigint), 0) AS tool_results
  FROM audit_rows a WHERE ${which} AND source IS DISTINCT FROM 'otel' AND proxy_type = 'llm' AND tenant_id IS NOT NULL AND llm_model_used IS NOT NULL AND timestamp IS NOT NULL
  GROUP BY 1, 2, 3, 4, 5
  ), daily AS (
  INSERT INTO usage_daily
  SELECT tenant_id, (hour AT TIME ZONE 'UTC')::date, resource_group_id, llm_model_used, sum(made_by_callers), sum(errors), sum(prompt_tokens), sum(completion_tokens), sum(cost_micro_usd), sum(unpriced_requests)
  FROM fresh GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
  ON CONFLICT (tenant_id, day, resource_group_id, llm_model_used) DO UPDATE SET
    requests = usage_daily.requests + excluded.requests,
    errors = usage_daily.errors + excluded.errors,
    prompt_tokens = usage_daily.prompt_tokens + excluded.prompt_tokens,
    completion_tokens = usage_daily.completion_tokens + excluded.completion_tokens,
    cost_micro_usd = usage_daily.cost_micro_usd + excluded.cost_micro_usd,
    unpriced_requests = usage_daily.unpriced_requests + excluded.unpriced_requests
  )
  INSERT INTO usage_hourly
  SELECT tenant_id, hour, resource_group_id, api_key_id, llm_model_used, requests, errors, prompt_tokens, completion_tokens, cost_micro_usd, unpriced_requests, tool_results FROM fresh ORDER BY 1, 2, 3, 4, 5
  ON CONFLICT (tenant_id, hour, resource_group_id, api_key_id, llm_model_used) DO UPDATE SET
    requests = usage_hourly.requests + excluded.requests,
    errors = usage_hourly.errors + excluded.errors,
    prompt_tokens = usage_hourly.prompt_tokens + excluded.prompt_tokens,
    completion_tokens = usage_hourly.completion_tokens + excluded.completion_tokens,
    cost_micro_usd = usage_hourly.cost_micro_usd + excluded.cost_micro_usd,
    unpriced_requests = usage_hourly.unpriced_requests + excluded.unpriced_requests,
    tool_results = usage_hourly.tool_results + excluded.tool_results`;

const ADD_CHECKPOINTS = "INSERT INTO audit_checkpoints SELECT c.* FROM json_populate_recordset(null::audit_checkpoints, $1::json) c ON CONFLICT (chain_id, checkpoint_no) DO NOTHING";

/** False when the chain stands elsewhere or has another writer; then nothing was written. */
export async function shipAuditRows(db: Database, shipment: AuditShipment): Promise<boolean> {
  const client = await poolOf(db).connect();
  let failure: Error | undefined;
  try {
    await client.query(`BEGIN; ${LOCK_AGAINST_ERASURE}`);
    const moved = await ship(client, shipment);
    await client.query(moved ? "COMMIT" : "ROLLBACK");
    return moved;
  } catch (error) {
    failure = error as Error;
    await client.query("ROLLBACK").catch(() => undefined);
    throw error;
  } finally {
    // A connection that failed in the middle is not used again: what it was told last is unknown.
    client.release(failure !== undefined && (failure as { code?: string }).code === undefined);
  }
}

async function ship(client: pg.PoolClient, shipment: AuditShipment): Promise<boolean> {
  const { chainId, writer, from, to, head, firstSeq, checkpoints } = shipment;
  const moved = await client.query(prepared(MOVE, [chainId, writer, from.segment, from.offset, to.segment, to.offset, head?.seq ?? null, head?.hash ?? null, checkpoints]));
  if (moved.rowCount !== 1) return false;
  if (shipment.ids === null) {
    await copyRows(client, shipment.columns, shipment.rows);
    if (head !== null) await addUp(client, "a.chain_id = $1 AND a.chain_seq BETWEEN $2 AND $3 AND a.id BETWEEN $4 AND $5", [chainId, firstSeq, head.seq, shipment.idRange?.least, shipment.idRange?.most], shipment.idRange?.least ?? "");
  } else {
    const { rows } = await client.query<{ id: string }>("SELECT id FROM audit_rows WHERE id = ANY($1)", [shipment.ids]);
    const there = new Set(rows.map(({ id }) => id));
    const missing = shipment.ids.filter((id) => !there.has(id));
    await copyRows(client, shipment.columns, shipment.rows.filter((_, index) => !there.has(shipment.ids?.[index] as string)));
    await addUp(client, "a.id = ANY($1)", [missing], shipment.idRange?.least ?? "");
  }
  if (checkpoints !== "[]") await client.query(ADD_CHECKPOINTS, [checkpoints]);
  return true;
}

async function addUp(client: pg.PoolClient, which: string, parameters: readonly unknown[], leastId: string): Promise<void> {
  await noteLateRows(client, which, parameters, leastId);
  await eraseArrivals(client, which, parameters);
  await client.query(prepared(ADD_USAGE(which), parameters));
  await client.query(prepared(ADD_TOOL_USAGE(which), parameters));
  await addRowsToRuns(client, which, parameters);
}

async function copyRows(client: pg.PoolClient, columns: readonly string[], rows: readonly Buffer[]): Promise<void> {
  if (rows.length === 0) return;
  // They come from a file: names are all they may be.
  if (!columns.every((name) => /^[a-z0-9_]+$/.test(name))) throw new Error("a segment of the audit journal names columns no release had");
  await pipeline(Readable.from([Buffer.concat(rows)]), client.query(copyFrom(`COPY audit_rows (${columns.join(", ")}) FROM STDIN`)));
}

export interface AuditChainState {
  readonly writer: string;
  readonly headSeq: number;
  readonly headHash: string;
  readonly shipped: { readonly segment: number; readonly offset: number };
}

export async function readAuditChain(db: Database, chainId: string): Promise<AuditChainState | null> {
  const row = await db.selectFrom("audit_chains").select(["writer", "head_seq", "head_hash", "shipped_segment", "shipped_offset"]).where("chain_id", "=", chainId).executeTakeFirst();
  return row === undefined ? null : { writer: row.writer, headSeq: row.head_seq, headHash: row.head_hash, shipped: { segment: row.shipped_segment, offset: row.shipped_offset } };
}

/** Makes `writer` the one that may add to the chain, from `shipped` on. Whoever was it before can add no more. */
export async function claimAuditChain(db: Database, claim: { chainId: string; writer: string; genesisHash: string; shipped: { segment: number; offset: number } }): Promise<void> {
  const { segment: shipped_segment, offset: shipped_offset } = claim.shipped;
  await db
    .insertInto("audit_chains")
    .values({ chain_id: claim.chainId, writer: claim.writer, head_hash: claim.genesisHash, last_checkpoint_seq: null, shipped_segment, shipped_offset })
    .onConflict((conflict) => conflict.column("chain_id").doUpdateSet({ writer: claim.writer, shipped_segment, shipped_offset, updated_at: sql`now()` }))
    .execute();
}

export interface LastCheckpoint {
  readonly no: number;
  readonly seq: number;
  readonly note: string;
}

export async function readLastCheckpoint(db: Database, chainId: string): Promise<LastCheckpoint | null> {
  const row = await db.selectFrom("audit_checkpoints").select(["checkpoint_no", "chain_seq", "note"]).where("chain_id", "=", chainId).orderBy("checkpoint_no", "desc").limit(1).executeTakeFirst();
  return row === undefined ? null : { no: row.checkpoint_no, seq: row.chain_seq, note: row.note };
}
