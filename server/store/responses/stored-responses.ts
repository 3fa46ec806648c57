import { type Insertable, type Selectable, sql } from "kysely";
import type { Database } from "../database.ts";
import { type FileOwner, ownedBy } from "../files/files.ts";
import type { TenantTurns } from "../../kernel/scheduling/tenant-work.ts";
import type { ResponseUse, StoredResponseTable } from "../tables/stored-responses.ts";

export type StoredResponseRow = Selectable<StoredResponseTable>;
export type NewStoredResponse = Insertable<StoredResponseTable>;
export type { ResponseUse };

/**
 * Records responses under their providers' IDs and returns the calls whose responses were stored. An existing ID keeps its owner, whatever
 * a provider says, and nothing is stored for deleted owners.
 */
export async function insertStoredResponses(db: Database, responses: readonly NewStoredResponse[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ request_id: string }>`
    INSERT INTO stored_responses
    SELECT r.tenant_id, r.id, r.resource_group_id, r.end_user_id, (SELECT k.id FROM api_keys k WHERE k.id = r.api_key_id), r.model_id,
           r.model, r.provider_key, r.request_id, r.root_task_id, r.correlation_id, r.client_ip, r.input_characters, r.created_at,
           r.expires_at, r.look_at, 0, r.streamed, r.held_tokens, r.held_micro_usd, r.chain, NULL, NULL, NULL, r.labels
      FROM jsonb_populate_recordset(NULL::stored_responses, ${JSON.stringify(responses)}::jsonb) r
      JOIN resource_groups g ON g.id = r.resource_group_id AND g.tenant_id = r.tenant_id
     WHERE r.end_user_id IS NULL OR EXISTS (SELECT FROM end_users u WHERE u.id = r.end_user_id)
    ON CONFLICT (tenant_id, id) DO NOTHING RETURNING request_id`.execute(db);
  return new Set(rows.map(({ request_id }) => request_id));
}

export async function findStoredResponse(db: Database, owner: FileOwner, id: string): Promise<StoredResponseRow | undefined> {
  return db
    .selectFrom("stored_responses")
    .selectAll()
    .where("id", "=", id)
    .where(ownedBy(owner))
    .where("expires_at", ">", sql<Date>`now()`)
    .executeTakeFirst();
}

/** Returns false while its usage is not known yet; it must be kept until then. */
export async function deleteStoredResponse(db: Database, owner: FileOwner, id: string): Promise<boolean> {
  const { rows } = await sql`DELETE FROM stored_responses WHERE id = ${id} AND ${ownedBy(owner)} AND look_at IS NULL RETURNING 1`.execute(
    db,
  );
  return rows.length > 0;
}

export async function countOpenResponses(db: Database, tenantId: string): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    SELECT count(*)::int AS n FROM stored_responses WHERE tenant_id = ${tenantId} AND look_at IS NOT NULL`.execute(db);
  return rows[0]?.n ?? 0;
}

/** Leases responses that are due to be polled for their usage for `leaseMs`, taking turns between tenants. */
export async function takeDueResponses(
  db: Database,
  { most, mostOfOne, underWay }: TenantTurns,
  leaseMs: number,
): Promise<readonly StoredResponseRow[]> {
  const { rows } = await sql<StoredResponseRow>`
    WITH due AS MATERIALIZED (
      SELECT k.tenant_id, k.id FROM stored_responses k JOIN (
        SELECT w.tenant_id, w.id, coalesce(busy.n, 0) + row_number() OVER (PARTITION BY w.tenant_id ORDER BY w.look_at) AS turn
          FROM stored_responses w
          LEFT JOIN unnest(${[...underWay.keys()]}::text[], ${[...underWay.values()]}::bigint[]) AS busy (tenant_id, n) USING (tenant_id)
         WHERE w.look_at <= now()
      ) waiting USING (tenant_id, id)
      WHERE k.look_at <= now() AND waiting.turn <= ${mostOfOne} ORDER BY waiting.turn, k.look_at LIMIT ${most} FOR UPDATE OF k SKIP LOCKED)
    UPDATE stored_responses r SET look_at = now() + ${leaseMs} * interval '1 millisecond', looks = r.looks + 1
      FROM due WHERE r.tenant_id = due.tenant_id AND r.id = due.id RETURNING r.*`.execute(db);
  return rows;
}

export async function scheduleResponsePoll(db: Database, { tenant_id, id }: StoredResponseRow, afterMs: number): Promise<void> {
  await sql`
    UPDATE stored_responses SET look_at = now() + ${afterMs} * interval '1 millisecond'
     WHERE tenant_id = ${tenant_id} AND id = ${id} AND look_at IS NOT NULL`.execute(db);
}

/** Records the ID of the row that will report the response's usage. Returns false if one is recorded already, or the usage is known. */
export async function claimResponseSettlement(
  db: Database,
  { tenant_id, id }: StoredResponseRow,
  rowId: string,
  used: ResponseUse,
): Promise<boolean> {
  const { rows } = await sql`
    UPDATE stored_responses SET settlement_id = ${rowId}, settling_since = now(), used = ${JSON.stringify(used)}::jsonb
     WHERE tenant_id = ${tenant_id} AND id = ${id} AND settlement_id IS NULL AND look_at IS NOT NULL RETURNING 1`.execute(db);
  return rows.length > 0;
}

/** Clears the recorded row, which will never report the usage, so that another one must. */
export async function forgetResponseSettlement(db: Database, { tenant_id, id }: StoredResponseRow): Promise<void> {
  await sql`
    UPDATE stored_responses SET settlement_id = NULL, settling_since = NULL, used = NULL, look_at = now()
     WHERE tenant_id = ${tenant_id} AND id = ${id} AND look_at IS NOT NULL`.execute(db);
}

/** Marks that a row reports the usage. */
export async function noteResponseSettled(db: Database, { tenant_id, id }: StoredResponseRow): Promise<void> {
  await sql`UPDATE stored_responses SET look_at = NULL WHERE tenant_id = ${tenant_id} AND id = ${id}`.execute(db);
}

/** The fate of a row that a process was about to write; null while it is unknown. */
export async function responseRowOutcome(
  db: Database,
  tenantId: string,
  rowId: string,
): Promise<{ readonly interrupted: boolean; readonly metered: boolean } | null> {
  const { rows } = await sql<{ interrupted: boolean; metered: boolean }>`
    SELECT error_type IS NOT DISTINCT FROM 'gateway_interrupted' AS interrupted, llm_total_tokens IS NOT NULL AS metered
      FROM audit_rows WHERE tenant_id = ${tenantId} AND id = ${rowId}`.execute(db);
  return rows[0] ?? null;
}

/**
 * Unsettled responses begun by the process that owns this chain: after its restart nobody else holds them in its limits. They become due
 * for polling.
 */
export async function takeUpResponses(db: Database, chain: string): Promise<readonly StoredResponseRow[]> {
  const { rows } = await sql<StoredResponseRow>`
    UPDATE stored_responses SET look_at = now() WHERE look_at IS NOT NULL AND chain = ${chain} RETURNING *`.execute(db);
  return rows;
}

/** A response, and the call that began it. */
export type ResponseOfCall = Pick<StoredResponseRow, "request_id" | "tenant_id" | "id">;

/** Those of the responses that are settled or deleted, with their usage. */
export async function settledResponses(
  db: Database,
  responses: readonly ResponseOfCall[],
): Promise<readonly { readonly request_id: string; readonly used: ResponseUse | null }[]> {
  const { rows } = await sql<{ request_id: string; used: ResponseUse | null }>`
    SELECT w.request_id, r.used
      FROM unnest(${responses.map((one) => one.request_id)}::text[], ${responses.map((one) => one.tenant_id)}::text[],
                  ${responses.map((one) => one.id)}::text[]) AS w(request_id, tenant_id, id)
      LEFT JOIN stored_responses r ON r.tenant_id = w.tenant_id AND r.id = w.id AND r.request_id = w.request_id
     WHERE r.look_at IS NULL`.execute(db);
  return rows;
}

export async function sweepStoredResponses(db: Database): Promise<void> {
  await sql`DELETE FROM stored_responses WHERE expires_at < now() AND look_at IS NULL`.execute(db);
}
