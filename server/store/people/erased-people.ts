import { sql } from "kysely";
import type { PersonNames } from "./accounts-named.ts";
import type { Trx } from "../database.ts";

/**
 * Removes a person's arguments and names from approvals they requested or resolved; pending ones expire. Notifications about these
 * approvals are deleted too. Returns how many approvals were changed.
 */
export async function eraseFromApprovals(trx: Trx, tenantId: string, { ids, usernames }: PersonNames, now: Date): Promise<number> {
  const requesters = await sql<{ id: string }>`
    UPDATE approvals
       SET requester_display = 'erased', call_arguments = '{}', arguments_digest = '', request_metadata = '{}', resolution_note = NULL, token_nonce = NULL, shown_in = '{}',
           status = CASE WHEN status = 'pending' THEN 'expired' ELSE status END, expires_at = least(expires_at, ${now})
     WHERE tenant_id = ${tenantId} AND requester_id = ANY(${ids}) AND requester_display <> 'erased'
    RETURNING id`.execute(trx);
  await sql`DELETE FROM held_answers WHERE tenant_id = ${tenantId} AND approval_id = ANY(${requesters.rows.map(({ id }) => id)}::uuid[])`.execute(
    trx,
  );
  const resolved = await sql<{
    id: string;
  }>`UPDATE approvals SET resolved_by = 'erased', resolver_id = NULL, resolution_note = NULL WHERE tenant_id = ${tenantId} AND (resolver_id = ANY(${ids}) OR resolver_id IS NOT NULL AND resolved_by = ANY(${usernames})) RETURNING id`.execute(
    trx,
  );
  const touched = [...new Set([...requesters.rows, ...resolved.rows].map(({ id }) => id))];
  if (touched.length > 0)
    await sql`DELETE FROM notifications WHERE tenant_id = ${tenantId} AND metadata->>'approval_id' = ANY(${touched})`.execute(trx);
  return touched.length;
}

/** Deletes the person's tokens for tool servers, and the grants of clients that used them. Returns the principal and server of each. */
export async function eraseUpstreamTokens(
  trx: Trx,
  tenantId: string,
  ids: readonly string[],
): Promise<{ principal_id: string; mcp_server_id: string }[]> {
  const { rows } = await sql<{
    principal_id: string;
    mcp_server_id: string;
  }>`DELETE FROM oauth_tokens WHERE tenant_id = ${tenantId} AND principal_type = 'user' AND principal_id = ANY(${ids}) RETURNING principal_id, mcp_server_id`.execute(
    trx,
  );
  return rows;
}

/** Deletes cached answers that only this person was given. */
export async function eraseStoredAnswers(trx: Trx, tenantId: string, ids: readonly string[]): Promise<void> {
  await sql`
    WITH gone AS (DELETE FROM semantic_cache_entries WHERE tenant_id = ${tenantId} AND end_user_id::text = ANY(${ids}) RETURNING config_id)
    UPDATE semantic_cache_configs SET generation = gen_random_uuid() WHERE id IN (SELECT config_id FROM gone)`.execute(trx);
}
