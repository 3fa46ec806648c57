import { sql, type Insertable, type Selectable, type Updateable } from "kysely";
import type { Database, Trx } from "../database.ts";
import { containing, pageOfRows } from "../records/paging.ts";
import { findInTenant, type RecordStore, writesById } from "../records/record-store.ts";
import type { ApiKeyTable } from "../schema.ts";

export type ApiKeyRow = Selectable<ApiKeyTable>;
export type ApiKeyInsert = Insertable<ApiKeyTable>;
export type ApiKeyPatch = Updateable<ApiKeyTable>;

export interface ApiKeyFilters {
  /** Part of the name, the last characters that are shown of a key, or a key whose hash is given as well. */
  readonly search?: { readonly text: string; readonly hash: string } | undefined;
  readonly status?: "active" | "revoked" | "expired" | undefined;
  readonly scope?: string | undefined;
  readonly resource_group_id?: string | undefined;
  /** The time that `status` is judged by. */
  readonly now: Date;
}

const active = (now: Date) => sql<boolean>`revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${now})`;

export const apiKeyStore: RecordStore<ApiKeyRow, ApiKeyInsert, ApiKeyPatch, ApiKeyFilters> = {
  async page(db, tenantId, filters, page) {
    let query = db.selectFrom("api_keys").where("tenant_id", "=", tenantId);
    if (filters.scope !== undefined) query = query.where("scope", "=", filters.scope);
    if (filters.resource_group_id !== undefined) query = query.where("resource_group_id", "=", filters.resource_group_id);
    if (filters.status === "revoked") query = query.where("revoked_at", "is not", null);
    if (filters.status === "expired") query = query.where("revoked_at", "is", null).where("expires_at", "<=", filters.now);
    if (filters.status === "active") query = query.where(active(filters.now));
    const { search } = filters;
    if (search !== undefined)
      query = query.where((eb) =>
        eb.or([
          eb("name", "ilike", containing(search.text)),
          eb("key_hint", "=", search.text),
          eb("key_hash", "=", search.hash),
          eb("previous_hash", "=", search.hash),
          eb("id", "in", eb.selectFrom("former_key_values").select("api_key_id").where("key_hash", "=", search.hash)),
        ]),
      );
    return pageOfRows(query, query.selectAll().orderBy("created_at", "desc").orderBy("id"), page);
  },
  find: findInTenant("api_keys"),
  ...writesById("api_keys"),
};

/** The ID of the group's active key of this name. Serialises the creation of keys in the group. */
export async function activeKeyByName(trx: Trx, groupId: string, name: string, now: Date): Promise<string | undefined> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`api_keys/${groupId}`}, 0))`.execute(trx);
  const row = await trx
    .selectFrom("api_keys")
    .select("id")
    .where("resource_group_id", "=", groupId)
    .where("name", "=", name)
    .where(active(now))
    .executeTakeFirst();
  return row?.id;
}

/** Revokes the group's keys, including expired ones, and detaches them from it. The records stay because the ledger refers to them. */
export async function detachKeys(trx: Trx, groupId: string, now: Date): Promise<void> {
  await trx
    .updateTable("api_keys")
    .set({ resource_group_id: null, revoked_at: sql<Date>`coalesce(revoked_at, ${now})`, updated_at: now })
    .where("resource_group_id", "=", groupId)
    .execute();
}

/** Serialises the creation of keys for one person. */
export async function lockKeysOfUser(trx: Trx, userId: string): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`api_keys of/${userId}`}, 0))`.execute(trx);
}

/** A person's own keys, active ones first, then newest first. A null limit means all. */
export async function keysOfUser(
  db: Database | Trx,
  tenantId: string,
  userId: string,
  now: Date,
  limit: number | null,
): Promise<ApiKeyRow[]> {
  const query = db
    .selectFrom("api_keys")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where("end_user_id", "=", userId)
    .orderBy(sql`(revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${now}))`, "desc")
    .orderBy("created_at", "desc")
    .orderBy("id");
  return (limit === null ? query : query.limit(limit)).execute();
}

export async function keysOfUserSince(trx: Trx, tenantId: string, userId: string, since: Date): Promise<number> {
  const { count } = await trx
    .selectFrom("api_keys")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("tenant_id", "=", tenantId)
    .where("end_user_id", "=", userId)
    .where("created_at", ">=", since)
    .executeTakeFirstOrThrow();
  return Number(count);
}
