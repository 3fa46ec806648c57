import { sql } from "kysely";
import type { Database, Trx } from "../database.ts";
import type { IdentityProviderRow } from "./identity-providers.ts";
import { lockName } from "../connections/named-lock.ts";

/** Not scoped by tenant: somebody signing in knows only the provider. */
export async function signOnProviderById(db: Database | Trx, id: string): Promise<IdentityProviderRow | undefined> {
  return db
    .selectFrom("identity_providers as p")
    .innerJoin("tenants", "tenants.id", "p.tenant_id")
    .selectAll("p")
    .where("p.id", "=", id)
    .where("p.enabled", "=", true)
    .where("tenants.enabled", "=", true)
    .executeTakeFirst();
}

/** Locks the provider until the transaction ends, so that it cannot be deleted, disabled or changed during a sign-in. */
export async function heldProvider(trx: Trx, tenantId: string, id: string): Promise<Pick<IdentityProviderRow, "settings"> | undefined> {
  return trx
    .selectFrom("identity_providers")
    .select("settings")
    .where("tenant_id", "=", tenantId)
    .where("id", "=", id)
    .where("enabled", "=", true)
    .forShare()
    .executeTakeFirst();
}

/** Replaces the memberships from this source; returns whether any changed. */
export async function setMembershipsOf(
  trx: Trx,
  tenantId: string,
  source: string,
  userId: string,
  groupIds: readonly string[],
): Promise<boolean> {
  const gone = await sql`
    DELETE FROM end_user_group_members WHERE tenant_id = ${tenantId} AND source = ${source} AND end_user_id = ${userId}
       AND NOT group_id = ANY(${[...groupIds]}::uuid[]) RETURNING group_id`.execute(trx);
  const come = await sql`
    INSERT INTO end_user_group_members (group_id, end_user_id, source, tenant_id)
    SELECT g.id, ${userId}, ${source}, ${tenantId} FROM end_user_groups g WHERE g.tenant_id = ${tenantId} AND g.id = ANY(${[...groupIds]}::uuid[])
    ON CONFLICT DO NOTHING RETURNING group_id`.execute(trx);
  return gone.rows.length + come.rows.length > 0;
}

/** Deletes the memberships from this source except in these groups; returns whether there were any. */
export async function endMembershipsOf(trx: Trx, tenantId: string, source: string, keptGroupIds: readonly string[]): Promise<boolean> {
  let query = trx.deleteFrom("end_user_group_members").where("tenant_id", "=", tenantId).where("source", "=", source);
  if (keptGroupIds.length > 0) query = query.where("group_id", "not in", [...keptGroupIds]);
  const gone = await query.executeTakeFirst();
  return gone.numDeletedRows > 0n;
}

/**
 * Whether another owner of the tenant could still sign in. Serialised, so that two owners signing in at once do not both count on the
 * other.
 */
export async function hasOtherOwner(trx: Trx, tenantId: string, adminId: string): Promise<boolean> {
  await lockName(trx, `owners/${tenantId}`);
  const row = await trx
    .selectFrom("admin_users")
    .select("id")
    .where("tenant_id", "=", tenantId)
    .where("role", "=", "owner")
    .where("is_active", "=", true)
    .where("id", "<>", adminId)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
