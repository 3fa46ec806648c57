import { sql } from "kysely";
import type { ApprovalRow } from "./approvals.ts";
import type { Database } from "./database.ts";

/** Who wants to resolve an approval: an administrator, or an end user of its tenant. */
export interface ResolverAccount {
  readonly plane: "admin" | "portal";
  readonly id: string;
}

/**
 * Whether an account is that of whoever asked: the person the call was made for, and whoever made or rotated the key it
 * came with and so has held it. An administrator and an end user are one person where they share a username or an e-mail
 * address.
 */
export async function isAskersAccount(db: Database, approval: ApprovalRow, { plane, id }: ResolverAccount): Promise<boolean> {
  const { tenant_id: tenantId, requester_id: requester } = approval;
  const key = approval.request_metadata.api_key_id ?? (approval.requester_type === "api_key" ? requester : null);
  const { rows } = await sql<{ own: boolean }>`
    WITH asked AS (
      SELECT 'portal' AS plane, id::text AS id, username, email
        FROM end_users WHERE tenant_id = ${tenantId} AND id::text = ${requester}
      UNION ALL
      SELECT 'admin', log.actor_id, coalesce(a.username, log.actor_username), a.email
        FROM admin_log log LEFT JOIN admin_users a ON a.id::text = log.actor_id
       WHERE log.tenant_id = ${tenantId} AND log.resource = 'api-keys' AND log.resource_id = ${key} AND log.action IN ('create', 'rotate')
    ), resolver AS (
      SELECT 'portal' AS plane, id::text AS id, username, email
        FROM end_users WHERE ${plane} = 'portal' AND tenant_id = ${tenantId} AND id::text = ${id}
      UNION ALL
      SELECT 'admin', id::text, username, email FROM admin_users WHERE ${plane} = 'admin' AND id::text = ${id}
    )
    SELECT EXISTS (
      SELECT 1 FROM asked, resolver
       WHERE CASE WHEN asked.plane = resolver.plane THEN asked.id = resolver.id
                  ELSE lower(asked.username) = lower(resolver.username)
                    OR (asked.email <> '' AND lower(asked.email) = lower(resolver.email)) END
    ) AS own`.execute(db);
  return rows[0]?.own === true;
}
