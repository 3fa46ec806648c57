import { sql, type Insertable, type Selectable, type Updateable } from "kysely";
import type { Database, Trx } from "../database.ts";
import { formerValuesOf } from "../credentials/former-key-values.ts";
import { containing, pageOfRows } from "../records/paging.ts";
import { exactMatchFirst, nameIs } from "./usernames.ts";
import type { RecordStore } from "../records/record-store.ts";
import type { EndUserTable } from "../tables/people.ts";
import { findInTenant, writesById } from "../records/record-store.ts";

export type EndUserRow = Selectable<EndUserTable>;
export type EndUserInsert = Insertable<EndUserTable>;
export type EndUserPatch = Updateable<EndUserTable>;

export interface EndUserFilters {
  readonly search?: string | undefined;
  readonly active_only?: "true" | "false" | undefined;
}

export const endUserStore: RecordStore<EndUserRow, EndUserInsert, EndUserPatch, EndUserFilters> = {
  async page(db, tenantId, filters, page) {
    let query = db.selectFrom("end_users").where("tenant_id", "=", tenantId);
    if (filters.active_only === "true") query = query.where("is_active", "=", true);
    if (filters.search !== undefined) {
      const pattern = containing(filters.search);
      query = query.where((eb) =>
        eb.or([eb("username", "ilike", pattern.normalize("NFC")), eb("display_name", "ilike", pattern), eb("email", "ilike", pattern)]),
      );
    }
    return pageOfRows(query, query.selectAll().orderBy("username").orderBy("id"), page);
  },
  find: findInTenant("end_users"),
  ...writesById("end_users"),
};

export async function endUserExists(db: Database | Trx, tenantId: string, id: string): Promise<boolean> {
  return (
    (await db.selectFrom("end_users").select("id").where("tenant_id", "=", tenantId).where("id", "=", id).executeTakeFirst()) !== undefined
  );
}

/** The user with this username, ignoring case and Unicode form. */
export async function endUserByUsername(db: Database | Trx, tenantId: string, username: string): Promise<EndUserRow | undefined> {
  return db
    .selectFrom("end_users")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where(nameIs(username))
    .orderBy(exactMatchFirst(username))
    .executeTakeFirst();
}

/** Records the login and returns the user; undefined if gone, inactive, or with another password or second factor than `verified`. */
export async function noteLogin(
  db: Database,
  verified: Pick<EndUserRow, "id" | "password_hash" | "totp_enabled">,
  at: Date,
): Promise<EndUserRow | undefined> {
  return db
    .updateTable("end_users")
    .set({ last_login: at })
    .where("id", "=", verified.id)
    .where("password_hash", "=", verified.password_hash)
    .where("totp_enabled", "=", verified.totp_enabled)
    .where("is_active", "=", true)
    .returningAll()
    .executeTakeFirst();
}

/** Users after `afterId`, ordered by ID, for an export that cannot hold all of them in memory. */
export async function endUsersAfter(db: Database, tenantId: string, afterId: string | null, limit: number): Promise<EndUserRow[]> {
  let query = db.selectFrom("end_users").selectAll().where("tenant_id", "=", tenantId);
  if (afterId !== null) query = query.where("id", ">", afterId);
  return query.orderBy("id").limit(limit).execute();
}

/** IDs of every API key the user has or had. */
export async function keyIdsOfUser(db: Database, tenantId: string, userId: string): Promise<string[]> {
  const rows = await db.selectFrom("api_keys").select("id").where("tenant_id", "=", tenantId).where("end_user_id", "=", userId).execute();
  return rows.map((row) => row.id);
}

/** Hashes of all values, current and former, of the user's own API keys. */
export async function keyHashesOfUser(db: Database | Trx, userId: string): Promise<string[]> {
  const rows = await db.selectFrom("api_keys").select(["id", "key_hash", "previous_hash"]).where("end_user_id", "=", userId).execute();
  const former = await formerValuesOf(
    db,
    rows.map((row) => row.id),
  );
  return [...rows.flatMap((row) => (row.previous_hash === null ? [row.key_hash] : [row.key_hash, row.previous_hash])), ...former];
}

/** Suspends these users' API keys until they sign in again. */
export async function suspendKeysOf(trx: Trx, tenantId: string, ids: readonly string[], now: Date): Promise<void> {
  if (ids.length === 0) return;
  await trx
    .updateTable("end_users")
    .set({ api_keys_suspended_at: now })
    .where("tenant_id", "=", tenantId)
    .where("id", "in", [...ids])
    .where("api_keys_suspended_at", "is", null)
    .execute();
}

/** Clears the group, which is being deleted, as anybody's primary group. */
export async function forgetPrimaryGroup(trx: Trx, tenantId: string, groupId: string): Promise<void> {
  await trx
    .updateTable("end_users")
    .set({ primary_group_id: null })
    .where("tenant_id", "=", tenantId)
    .where("primary_group_id", "=", groupId)
    .execute();
}

/** A user as calls need it. */
export interface EndUserIdentityRow {
  readonly id: string;
  readonly tenant_id: string;
  readonly username: string;
  readonly is_active: boolean;
  readonly must_change_password: boolean;
  readonly tokens_valid_from: Date;
  readonly api_keys_suspended_at: Date | null;
  readonly primary_group_id: string | null;
  /** Resource groups of the user: the one an administrator assigned, then those of their user groups, longest membership first. */
  readonly group_ids: string[];
  /** Their identity at the identity provider they last signed in with; null if none. */
  readonly idp_user_id: string | null;
  readonly idp_user_username: string | null;
  readonly idp_user_email: string | null;
}

export async function readEndUserIdentity(db: Database, tenantId: string, userId: string): Promise<EndUserIdentityRow | null> {
  const { rows } = await sql<EndUserIdentityRow>`
    SELECT u.id, u.tenant_id, u.username, u.is_active, u.must_change_password, u.tokens_valid_from, u.api_keys_suspended_at, u.primary_group_id,
           i.subject AS idp_user_id, i.username AS idp_user_username, i.email AS idp_user_email,
           ARRAY(SELECT found.id FROM (
             SELECT u.assigned_group_id AS id, '-infinity'::timestamptz AS member_since, '-infinity'::timestamptz AS bound_at WHERE u.assigned_group_id IS NOT NULL
             UNION ALL
             SELECT b.resource_group_id, m.created_at, b.created_at
               FROM end_user_group_members m JOIN resource_group_end_user_groups b ON b.end_user_group_id = m.group_id
              WHERE m.end_user_id = u.id AND m.tenant_id = ${tenantId} AND b.tenant_id = ${tenantId}
           ) found GROUP BY found.id ORDER BY min(found.member_since), min(found.bound_at), found.id) AS group_ids
      FROM end_users u LEFT JOIN LATERAL (
             SELECT subject, username, email FROM external_identities WHERE end_user_id = u.id AND tenant_id = ${tenantId}
              ORDER BY last_login DESC NULLS LAST LIMIT 1) i ON true
     WHERE u.tenant_id = ${tenantId} AND u.id = ${userId}`.execute(db);
  return rows[0] ?? null;
}
