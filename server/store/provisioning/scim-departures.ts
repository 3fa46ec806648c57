import { type RawBuilder, sql } from "kysely";
import type { Trx } from "../database.ts";
import type { AccountIds } from "../sign-on/sign-on-sessions.ts";

/** Expires the person's pending approvals, which nobody is to approve any more. */
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

/** All IDs that a directory may use for the subject of a provider: the subject itself, and its parts after each slash. */
const keysOf = (subject: RawBuilder<unknown>) => sql`(
  SELECT array_to_string(parts[n:], '/') AS key FROM string_to_array(${subject}, '/') parts, generate_subscripts(parts, 1) n
   UNION
  SELECT replace(replace(substring(${subject} FROM '//([^/]*)$'), '%2F', '/'), '%25', '%'))`;

/** Ends the sessions of administrators that a provider linked to this directory signed in under this key. */
export async function endAdminSessionsOf(trx: Trx, tenantId: string, source: string, externalId: string): Promise<void> {
  await sql`
    UPDATE admin_users a SET tokens_valid_from = greatest(date_trunc('milliseconds', now()), a.tokens_valid_from + interval '1 millisecond')
      FROM external_identities i JOIN identity_providers p ON p.id = i.provider_id
     WHERE a.id = i.admin_user_id AND a.tenant_id = ${tenantId} AND i.tenant_id = ${tenantId} AND p.tenant_id = ${tenantId}
       AND p.settings ->> 'scim_directory' = ${source} AND ${externalId}::text IN ${keysOf(sql`i.subject`)}`.execute(trx);
}

/**
 * Among these people of a directory, the accounts that have signed in through a provider which admits them, or gives them a role, for being
 * in one of the named groups; and whether that provider suspends their API keys.
 */
export async function accountsLetInByGroup(
  trx: Trx,
  { tenantId, source }: { readonly tenantId: string; readonly source: string },
  names: readonly string[],
  peopleIds: readonly string[],
): Promise<AccountIds & { readonly keysSuspendedOf: readonly string[] }> {
  // People are found by an index, and administrators by equal keys: in a large company, comparing each person with each sign-in would take
  // too long.
  const { rows } = await sql<{ end_user_id: string | null; admin_user_id: string | null; suspends: boolean }>`
    WITH provider AS (
      SELECT id, (settings ->> 'suspends_api_keys')::boolean AS suspends FROM identity_providers
       WHERE tenant_id = ${tenantId} AND settings ->> 'scim_directory' = ${source}
         AND (settings ->> 'required_group' = ANY(${[...names]}::text[])
              OR EXISTS (SELECT FROM jsonb_array_elements(settings -> 'group_mappings') m
                          WHERE m ->> 'role' IS NOT NULL AND m ->> 'group' = ANY(${[...names]}::text[])))
    ), person AS (
      SELECT end_user_id, external_id FROM scim_users
       WHERE tenant_id = ${tenantId} AND source = ${source} AND end_user_id = ANY(${[...peopleIds]}::uuid[])
    ), administrator AS MATERIALIZED (
      SELECT i.admin_user_id, k.key FROM external_identities i CROSS JOIN LATERAL ${keysOf(sql`i.subject`)} k
       WHERE i.admin_user_id IS NOT NULL AND i.last_login IS NOT NULL AND i.provider_id IN (SELECT id FROM provider)
    )
    SELECT person.end_user_id, NULL::uuid AS admin_user_id, bool_or(provider.suspends) AS suspends
      FROM person CROSS JOIN LATERAL (
        SELECT provider_id, last_login FROM external_identities WHERE end_user_id = person.end_user_id OFFSET 0) i
      JOIN provider ON provider.id = i.provider_id
     WHERE i.last_login IS NOT NULL
     GROUP BY person.end_user_id
     UNION
    SELECT NULL, administrator.admin_user_id, false FROM administrator JOIN person ON person.external_id = administrator.key`.execute(trx);
  return {
    endUserIds: rows.flatMap((row) => row.end_user_id ?? []),
    adminIds: rows.flatMap((row) => row.admin_user_id ?? []),
    keysSuspendedOf: rows.flatMap((row) => (row.suspends ? (row.end_user_id ?? []) : [])),
  };
}
