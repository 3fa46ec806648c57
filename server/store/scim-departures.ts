import { type RawBuilder, sql } from "kysely";
import type { Trx } from "./database.ts";
import type { AccountIds } from "./sign-on-sessions.ts";

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

/** Whether a provider knows somebody by what the directory calls them, or by a key whose last part that is. */
const isKeyOf = (subject: RawBuilder<unknown>, externalId: RawBuilder<unknown>) => {
  // As it stands in a key of which some part has a slash.
  const part = sql`replace(replace(${externalId}, '%', '%25'), '/', '%2F')`;
  return sql`(${subject} = ${externalId} OR right(${subject}, length(${externalId}) + 1) = '/' || ${externalId}
              OR right(${subject}, length(${part}) + 2) = '//' || ${part})`;
};

/** Ends the sessions of the administrators whom a provider of this directory's people signed in under this key. */
export async function endAdminSessionsOf(trx: Trx, tenantId: string, source: string, externalId: string): Promise<void> {
  await sql`
    UPDATE admin_users a SET tokens_valid_from = greatest(date_trunc('milliseconds', now()), a.tokens_valid_from + interval '1 millisecond')
      FROM external_identities i JOIN identity_providers p ON p.id = i.provider_id
     WHERE a.id = i.admin_user_id AND a.tenant_id = ${tenantId} AND i.tenant_id = ${tenantId} AND p.tenant_id = ${tenantId}
       AND p.settings ->> 'scim_directory' = ${source} AND ${isKeyOf(sql`i.subject`, sql`${externalId}::text`)}`.execute(trx);
}

/**
 * Of people of a directory, the accounts that a provider lets in for being in a group of one of these names, or gives a role for it, and
 * that have signed in by it.
 */
export async function accountsLetInByGroup(
  trx: Trx,
  { tenantId, source }: { readonly tenantId: string; readonly source: string },
  names: readonly string[],
  peopleIds: readonly string[],
): Promise<AccountIds> {
  const { rows } = await sql<{ end_user_id: string | null; admin_user_id: string | null }>`
    SELECT DISTINCT i.end_user_id, i.admin_user_id
      FROM identity_providers p
      JOIN external_identities i ON i.provider_id = p.id AND i.last_login IS NOT NULL
      JOIN scim_users s ON s.tenant_id = ${tenantId} AND s.source = ${source} AND s.end_user_id = ANY(${[...peopleIds]}::uuid[])
                       AND (s.end_user_id = i.end_user_id OR (i.admin_user_id IS NOT NULL AND ${isKeyOf(sql`i.subject`, sql`s.external_id`)}))
     WHERE p.tenant_id = ${tenantId} AND p.settings ->> 'scim_directory' = ${source}
       AND (p.settings ->> 'required_group' = ANY(${[...names]}::text[])
            OR EXISTS (SELECT FROM jsonb_array_elements(p.settings -> 'group_mappings') m
                        WHERE m ->> 'role' IS NOT NULL AND m ->> 'group' = ANY(${[...names]}::text[])))`.execute(trx);
  return { endUserIds: rows.flatMap((row) => row.end_user_id ?? []), adminIds: rows.flatMap((row) => row.admin_user_id ?? []) };
}
