import { sql, type Insertable, type Selectable, type Updateable } from "kysely";
import type { Database, Trx } from "../database.ts";
import { containing, pageOfRows } from "../records/paging.ts";
import { type RecordStore, writesById } from "../records/record-store.ts";
import type { AdminUserTable } from "../tables/people.ts";
import { exactMatchFirst, nameIs } from "./usernames.ts";

export type AdminUserRow = Selectable<AdminUserTable>;
export type AdminUserInsert = Insertable<AdminUserTable>;
export type AdminUserPatch = Updateable<AdminUserTable>;

export interface AdminUserFilters {
  readonly search?: string | undefined;
  readonly role?: string | undefined;
  readonly active_only?: "true" | "false" | undefined;
}

export const adminUserStore: RecordStore<AdminUserRow, AdminUserInsert, AdminUserPatch, AdminUserFilters, string | null> = {
  async page(db, tenantId, filters, page) {
    let query = db.selectFrom("admin_users");
    if (tenantId !== null) query = query.where("tenant_id", "=", tenantId);
    if (filters.role !== undefined) query = query.where("role", "=", filters.role);
    if (filters.active_only === "true") query = query.where("is_active", "=", true);
    if (filters.search !== undefined) {
      const pattern = containing(filters.search);
      query = query.where((eb) =>
        eb.or([eb("username", "ilike", pattern.normalize("NFC")), eb("display_name", "ilike", pattern), eb("email", "ilike", pattern)]),
      );
    }
    return pageOfRows(query, query.selectAll().orderBy("username").orderBy("id"), page);
  },
  find: (db, tenantId, id, lock) => {
    let query = db.selectFrom("admin_users").selectAll().where("id", "=", id);
    if (tenantId !== null) query = query.where("tenant_id", "=", tenantId);
    return (lock === undefined ? query : query.forUpdate()).executeTakeFirst();
  },
  ...writesById("admin_users"),
};

/** The admin with this username, ignoring case and Unicode form; a null tenant means system admins. */
export async function adminByUsername(db: Database | Trx, tenantId: string | null, username: string): Promise<AdminUserRow | undefined> {
  return db
    .selectFrom("admin_users")
    .selectAll()
    .where(sql<boolean>`coalesce(tenant_id, '') = ${tenantId ?? ""}`)
    .where(nameIs(username))
    .orderBy(exactMatchFirst(username))
    .executeTakeFirst();
}

/** Tenants that have an admin of this username, at most `limit`. */
export async function tenantsWithAdmin(db: Database, username: string, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom("admin_users")
    .select("tenant_id")
    .distinct()
    .where("tenant_id", "is not", null)
    .where(nameIs(username))
    .orderBy("tenant_id")
    .limit(limit)
    .execute();
  return rows.map((row) => row.tenant_id as string);
}

export type SignedInRow = AdminUserRow & {
  readonly tenant_enabled: boolean | null;
  readonly tenant_local_passwords: boolean | null;
  readonly admin_two_factor: "optional" | "required" | null;
};

/** An admin with the settings of their tenant, which are null for a system admin. */
export async function adminWithTenant(db: Database, id: string): Promise<SignedInRow | undefined> {
  return db
    .selectFrom("admin_users as u")
    .leftJoin("tenants as t", "t.id", "u.tenant_id")
    .selectAll("u")
    .select(["t.enabled as tenant_enabled", "t.admin_two_factor", "t.local_passwords as tenant_local_passwords"])
    .where("u.id", "=", id)
    .executeTakeFirst();
}

export async function systemAdminExists(db: Database | Trx): Promise<boolean> {
  return (await db.selectFrom("admin_users").select("id").where("tenant_id", "is", null).limit(1).executeTakeFirst()) !== undefined;
}

/** The name of a system admin who could sign in, as long as none has; null once one did. */
export async function newSystemAdmin(db: Database): Promise<string | null> {
  const admins = await db
    .selectFrom("admin_users")
    .select(["username", "last_login", "is_active"])
    .where("tenant_id", "is", null)
    .execute();
  if (admins.some(({ last_login: at }) => at !== null)) return null;
  return admins.find(({ is_active: active }) => active)?.username ?? null;
}

/** The number of active system admins other than `id`. Serialises changes to system admins until the transaction ends. */
export async function otherActiveSystemAdmins(trx: Trx, id: string): Promise<number> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended('system_admins', 0))`.execute(trx);
  const { count } = await trx
    .selectFrom("admin_users")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("tenant_id", "is", null)
    .where("is_active", "=", true)
    .where("id", "<>", id)
    .executeTakeFirstOrThrow();
  return count;
}

/** Makes a second process that starts at the same time wait until the first has created its records. */
export async function lockFirstStart(trx: Trx): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended('first_start', 0))`.execute(trx);
}
