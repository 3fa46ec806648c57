import { sql } from "kysely";
import type { Database, Trx } from "../database.ts";

/** The account that wants to resolve an approval: an administrator, or an end user of its tenant. */
export interface ResolverAccount {
  readonly plane: "admin" | "portal";
  readonly id: string;
}

/** Those of the given approvals that this account requested. */
export async function isRequestedByAccount(
  db: Database,
  tenantId: string,
  approvalIds: readonly string[],
  { plane, id }: ResolverAccount,
): Promise<ReadonlySet<string>> {
  const requestedIds = await idsRequestedByAccounts(db, tenantId, approvalIds, plane, [id]);
  return new Set(requestedIds.map(({ approvalId }) => approvalId));
}

/**
 * Which of the given accounts requested which approvals. The requester is the person the call was made for, and whoever created or rotated
 * the API key used, and so has seen it. An administrator and an end user are the same person if they share a username or an e-mail address,
 * or shared the address until the end user changed it.
 */
export async function idsRequestedByAccounts(
  db: Database,
  tenantId: string,
  approvalIds: readonly string[],
  plane: ResolverAccount["plane"],
  accountIds: readonly string[],
): Promise<readonly { readonly approvalId: string; readonly accountId: string }[]> {
  const { rows } = await sql<{ approvalId: string; accountId: string }>`
    WITH approval AS (
      SELECT id, requester_id AS requester,
             coalesce(request_metadata ->> 'api_key_id', CASE WHEN requester_type = 'api_key' THEN requester_id END) AS key
        FROM approvals WHERE tenant_id = ${tenantId} AND id = ANY(${approvalIds}::uuid[])
    ), asked AS (
      SELECT approval.id AS approval_id, 'portal' AS plane, u.id::text AS id, u.username, u.email, u.known_as_admin_ids::text[] AS known_as
        FROM approval JOIN end_users u ON u.tenant_id = ${tenantId} AND u.id::text = approval.requester
      UNION ALL
      SELECT approval.id, 'admin', log.actor_id, coalesce(a.username, log.actor_username), a.email, '{}'
        FROM approval
        JOIN admin_log log ON log.tenant_id = ${tenantId} AND log.resource = 'api-keys' AND log.resource_id = approval.key
                          AND log.action IN ('create', 'rotate')
        LEFT JOIN admin_users a ON a.id::text = log.actor_id
    ), resolver AS (
      SELECT 'portal' AS plane, id::text AS id, username, email, known_as_admin_ids::text[] AS known_as
        FROM end_users WHERE ${plane} = 'portal' AND tenant_id = ${tenantId} AND id::text = ANY(${[...accountIds]}::text[])
      UNION ALL
      SELECT 'admin', id::text, username, email, '{}' FROM admin_users WHERE ${plane} = 'admin' AND id::text = ANY(${[...accountIds]}::text[])
    )
    SELECT DISTINCT asked.approval_id AS "approvalId", resolver.id AS "accountId" FROM asked, resolver
     WHERE CASE WHEN asked.plane = resolver.plane THEN asked.id = resolver.id
                ELSE lower(asked.username) = lower(resolver.username)
                  OR (asked.email <> '' AND lower(asked.email) = lower(resolver.email))
                  OR asked.id = ANY (resolver.known_as) OR resolver.id = ANY (asked.known_as) END`.execute(db);
  return rows;
}

/**
 * Call before an end user changes their own e-mail address, which is not verified: links them to the administrators who have the present
 * address, so that both still count as one person. The administrators' IDs are stored, not the address.
 */
export async function keepSharedAddress(trx: Trx, tenantId: string, userId: string, next: string | null): Promise<void> {
  await sql`
    UPDATE end_users u
       SET known_as_admin_ids = ARRAY(
             SELECT unnest(u.known_as_admin_ids)
              UNION
             SELECT a.id FROM admin_users a
              WHERE (a.tenant_id IS NULL OR a.tenant_id = u.tenant_id) AND lower(a.email) = lower(u.email))
     WHERE u.tenant_id = ${tenantId} AND u.id = ${userId} AND u.email <> '' AND lower(u.email) IS DISTINCT FROM lower(${next}::text)`.execute(
    trx,
  );
}
