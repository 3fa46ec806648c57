import { sql } from "kysely";
import type { ApprovalRow } from "./approvals.ts";
import type { Database, Trx } from "./database.ts";

/** Who wants to resolve an approval: an administrator, or an end user of its tenant. */
export interface ResolverAccount {
  readonly plane: "admin" | "portal";
  readonly id: string;
}

/**
 * Whether an account is that of whoever asked: the person the call was made for, and whoever made or rotated the key it
 * came with and so has held it. An administrator and an end user are one person where they share a username or an e-mail
 * address, or shared the address until the end user changed theirs.
 */
export async function isAskersAccount(db: Database, approval: ApprovalRow, { plane, id }: ResolverAccount): Promise<boolean> {
  const { tenant_id: tenantId, requester_id: requester } = approval;
  const key = approval.request_metadata.api_key_id ?? (approval.requester_type === "api_key" ? requester : null);
  const { rows } = await sql<{ own: boolean }>`
    WITH asked AS (
      SELECT 'portal' AS plane, id::text AS id, username, email, known_as_admin_ids::text[] AS known_as
        FROM end_users WHERE tenant_id = ${tenantId} AND id::text = ${requester}
      UNION ALL
      SELECT 'admin', log.actor_id, coalesce(a.username, log.actor_username), a.email, '{}'
        FROM admin_log log LEFT JOIN admin_users a ON a.id::text = log.actor_id
       WHERE log.tenant_id = ${tenantId} AND log.resource = 'api-keys' AND log.resource_id = ${key} AND log.action IN ('create', 'rotate')
    ), resolver AS (
      SELECT 'portal' AS plane, id::text AS id, username, email, known_as_admin_ids::text[] AS known_as
        FROM end_users WHERE ${plane} = 'portal' AND tenant_id = ${tenantId} AND id::text = ${id}
      UNION ALL
      SELECT 'admin', id::text, username, email, '{}' FROM admin_users WHERE ${plane} = 'admin' AND id::text = ${id}
    )
    SELECT EXISTS (
      SELECT 1 FROM asked, resolver
       WHERE CASE WHEN asked.plane = resolver.plane THEN asked.id = resolver.id
                  ELSE lower(asked.username) = lower(resolver.username)
                    OR (asked.email <> '' AND lower(asked.email) = lower(resolver.email))
                    OR asked.id = ANY (resolver.known_as) OR resolver.id = ANY (asked.known_as) END
    ) AS own`.execute(db);
  return rows[0]?.own === true;
}

/**
 * Before an end user changes their own address, of which nobody asks a proof: whoever shares the present one with an
 * administrator stays the same person. The administrator is kept, and not the address.
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
