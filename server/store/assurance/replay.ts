import { type Insertable, type Selectable, sql, type Updateable } from "kysely";
import type { Database, Trx } from "../database.ts";
import { type Page, type Paged, pageOfRows } from "../records/paging.ts";
import { lookupsOf } from "../ledger/row-lookups.ts";
import { matchingIds } from "../ledger/row-search.ts";
import type { ReplayRunTable } from "../tables/replay.ts";

export type ReplayRunRow = Selectable<ReplayRunTable> & { readonly suite_version: number };

/** A recorded call, as far as it is needed to replay it. */
export interface RecordedCall {
  readonly id: string;
  readonly proxy_type: string;
  readonly endpoint: string | null;
  readonly target_url: string | null;
  readonly llm_model_requested: string | null;
  readonly llm_model_used: string | null;
  readonly server_id: string | null;
  readonly mcp_method: string | null;
  readonly mcp_capability_name: string | null;
  readonly agent_authz_decision: string | null;
  readonly success: boolean | null;
  readonly error_type: string | null;
  readonly protocol_version: string | null;
  readonly request_body_preview: string | null;
  readonly request_content_hash: string | null;
}

const RECORDED = sql`id, proxy_type, endpoint, target_url, llm_model_requested, llm_model_used, server_id, mcp_method, mcp_capability_name,
  agent_authz_decision, success, error_type, request_headers->>'mcp-protocol-version' AS protocol_version, request_body_preview, request_content_hash`;

/** A system's newest calls since `since` whose requests are kept, without replays; at most `most`. */
export async function recordedCalls(
  db: Database | Trx,
  tenantId: string,
  systemId: string,
  since: Date,
  most: number,
): Promise<RecordedCall[]> {
  const from = since.toISOString();
  const ids = await matchingIds(
    db,
    {
      conditions: [
        sql<boolean>`tenant_id = ${tenantId}`,
        sql<boolean>`resource_group_id = ${systemId}`,
        sql<boolean>`timestamp >= ${from}::timestamptz`,
        sql<boolean>`source = 'gateway'`,
        sql<boolean>`(proxy_type = 'llm' OR (proxy_type = 'mcp' AND mcp_method = 'tools/call'))`,
        sql<boolean>`request_body_preview IS NOT NULL`,
        sql<boolean>`parent_request_id IS NULL`,
        sql<boolean>`NOT coalesce(tags @> '["replay"]', false)`,
      ],
      lookups: lookupsOf("resource_group_id", [systemId]),
      tenantId,
      since: from,
      until: undefined,
      newestFirst: true,
    },
    null,
    most,
  );
  return callsById(db, tenantId, systemId, ids);
}

/** The calls with these IDs that exist and belong to this system. */
export async function callsById(db: Database | Trx, tenantId: string, systemId: string, ids: readonly string[]): Promise<RecordedCall[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<RecordedCall>`
    SELECT ${RECORDED} FROM audit_rows
     WHERE tenant_id = ${tenantId} AND resource_group_id = ${systemId} AND id = ANY(${[...ids]}::text[]) ORDER BY id DESC`.execute(db);
  return rows;
}

const runs = (db: Database | Trx, tenantId: string, systemId: string) =>
  db
    .selectFrom("replay_runs")
    .innerJoin("replay_suites", "replay_suites.id", "replay_runs.suite_id")
    .where("replay_runs.tenant_id", "=", tenantId)
    .where("replay_runs.ai_system_id", "=", systemId);

/** Newest first. */
export async function replayRunPage(db: Database, tenantId: string, systemId: string, page: Page): Promise<Paged<ReplayRunRow>> {
  const query = runs(db, tenantId, systemId);
  const rows = query.selectAll("replay_runs").select("replay_suites.version as suite_version");
  return pageOfRows(query, rows.orderBy("replay_runs.created_at", "desc").orderBy("replay_runs.id"), page);
}

export function findReplayRun(db: Database | Trx, tenantId: string, systemId: string, id: string): Promise<ReplayRunRow | undefined> {
  return runs(db, tenantId, systemId)
    .selectAll("replay_runs")
    .select("replay_suites.version as suite_version")
    .where("replay_runs.id", "=", id)
    .executeTakeFirst();
}

/** The newest run of a suite that ended under this configuration. */
export function endedRun(
  db: Database | Trx,
  tenantId: string,
  systemId: string,
  suiteId: string,
  contractDigest: string,
): Promise<ReplayRunRow | undefined> {
  return runs(db, tenantId, systemId)
    .selectAll("replay_runs")
    .select("replay_suites.version as suite_version")
    .where("replay_runs.suite_id", "=", suiteId)
    .where("replay_runs.contract_digest", "=", contractDigest)
    .where("replay_runs.state", "in", ["passed", "failed"])
    .orderBy("replay_runs.ended_at", "desc")
    .limit(1)
    .executeTakeFirst();
}

export async function insertReplayRun(trx: Trx, values: Insertable<ReplayRunTable>): Promise<void> {
  await trx.insertInto("replay_runs").values(values).execute();
}

/** Changes a run and returns true, unless it has ended in the meantime. */
export async function updateOpenRun(db: Database | Trx, id: string, patch: Updateable<ReplayRunTable>): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("replay_runs")
    .set(patch)
    .where("id", "=", id)
    .where("state", "in", ["queued", "running"])
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/**
 * Takes a run that is queued, or whose process was last heard of before `silentSince`: the oldest of the tenant that has waited longest for
 * any of its runs to continue.
 */
export async function claimReplayRun(db: Database, now: Date, silentSince: Date): Promise<Selectable<ReplayRunTable> | undefined> {
  const { rows } = await sql<Selectable<ReplayRunTable>>`
    UPDATE replay_runs SET state = 'running', started_at = coalesce(started_at, ${now}), heard_of_at = ${now} WHERE id = (
      SELECT id FROM replay_runs AS w WHERE state = 'queued' OR (state = 'running' AND heard_of_at < ${silentSince})
       ORDER BY (SELECT max(heard_of_at) FROM replay_runs AS t WHERE t.tenant_id = w.tenant_id) NULLS FIRST, created_at
       LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING *`.execute(db);
  return rows[0];
}

/** Whether a run of another tenant is queued. */
export async function otherReplaysWait(db: Database, tenantId: string): Promise<boolean> {
  const { rows } = await sql`SELECT FROM replay_runs WHERE state = 'queued' AND tenant_id <> ${tenantId} LIMIT 1`.execute(db);
  return rows.length > 0;
}

/** When replays of a system ran. In these hours its traffic was not only its callers'. */
export async function replayTimes(
  db: Database | Trx,
  tenantId: string,
  systemId: string,
  since: Date,
): Promise<{ readonly started_at: Date; readonly ended_at: Date | null }[]> {
  const { rows } = await sql<{ started_at: Date; ended_at: Date | null }>`
    SELECT started_at, ended_at FROM replay_runs
     WHERE tenant_id = ${tenantId} AND ai_system_id = ${systemId} AND started_at IS NOT NULL AND (ended_at IS NULL OR ended_at >= ${since})`.execute(
    db,
  );
  return rows;
}
