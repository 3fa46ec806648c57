import { sql } from "kysely";
import type { Trx } from "./database.ts";

/** What is pending in a person's name is nobody's to approve any more. */
export async function expireApprovalsOf(trx: Trx, tenantId: string, userId: string, now: Date): Promise<void> {
  await trx
    .updateTable("approvals")
    .set({ expires_at: now })
    .where("tenant_id", "=", tenantId)
    .where("requester_id", "=", userId)
    .where("status", "=", "pending")
    .where("expires_at", ">", now)
    .execute();
}

/**
 * Ends the sessions of the administrators whom a provider of this directory's people signed in under this key, or under one whose last
 * part it is: `part` is that as it stands in a subject of which some part has a slash.
 */
export async function endAdminSessionsOf(trx: Trx, tenantId: string, source: string, externalId: string, part: string): Promise<void> {
  await sql`
    UPDATE admin_users a SET tokens_valid_from = greatest(date_trunc('milliseconds', now()), a.tokens_valid_from + interval '1 millisecond')
      FROM external_identities i JOIN identity_providers p ON p.id = i.provider_id
     WHERE a.id = i.admin_user_id AND a.tenant_id = ${tenantId} AND i.tenant_id = ${tenantId} AND p.tenant_id = ${tenantId}
       AND p.settings ->> 'scim_directory' = ${source}
       AND (i.subject = ${externalId} OR right(i.subject, length(${externalId}) + 1) = '/' || ${externalId}
         OR right(i.subject, length(${part}) + 2) = '//' || ${part})`.execute(trx);
}
