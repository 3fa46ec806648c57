import { type Insertable, type Selectable, sql, type Updateable } from "kysely";
import type { Database, Trx } from "./database.ts";
import type { IdentityProviderRow } from "./identity-providers.ts";
import type { ExternalIdentityTable, SignOnStepTable } from "./tables/identity.ts";

export type SignOnStepRow = Selectable<SignOnStepTable>;
export type ExternalIdentityRow = Selectable<ExternalIdentityTable>;

/** Of whichever tenant: whoever signs in knows the provider only. */
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

/** What is over is cleared away with it. */
export async function insertSignOnStep(db: Database, step: Insertable<SignOnStepTable>, now: Date): Promise<void> {
  await db.deleteFrom("sign_on_steps").where("expires_at", "<", now).execute();
  await db.deleteFrom("sign_on_used").where("expires_at", "<", now).execute();
  await db.insertInto("sign_on_steps").values(step).execute();
}

/** Takes the step away: it is good once, and only in the browser that began it. */
export async function takeSignOnStep(
  db: Database,
  step: Pick<SignOnStepRow, "step_hash" | "kind" | "binding_hash">,
  now: Date,
): Promise<SignOnStepRow | undefined> {
  return db
    .deleteFrom("sign_on_steps")
    .where("step_hash", "=", step.step_hash)
    .where("kind", "=", step.kind)
    .where("binding_hash", "=", step.binding_hash)
    .where("expires_at", ">", now)
    .returningAll()
    .executeTakeFirst();
}

/** False when it was used before. */
export async function useOnce(db: Database, providerId: string, usedId: string, expiresAt: Date): Promise<boolean> {
  const { rows } = await sql`
    INSERT INTO sign_on_used (provider_id, used_id, expires_at) VALUES (${providerId}, ${usedId}, ${expiresAt})
    ON CONFLICT DO NOTHING RETURNING used_id`.execute(db);
  return rows.length === 1;
}

export async function externalIdentity(db: Database | Trx, providerId: string, subject: string): Promise<ExternalIdentityRow | undefined> {
  return db
    .selectFrom("external_identities")
    .selectAll()
    .where("provider_id", "=", providerId)
    .where("subject", "=", subject)
    .executeTakeFirst();
}

export async function insertExternalIdentity(trx: Trx, identity: Insertable<ExternalIdentityTable>): Promise<void> {
  await trx.insertInto("external_identities").values(identity).execute();
}

/** What the provider says of somebody who just signed in there. */
export async function noteExternalLogin(
  trx: Trx,
  providerId: string,
  subject: string,
  said: Required<Pick<Updateable<ExternalIdentityTable>, "username" | "email">>,
  at: Date,
): Promise<void> {
  await trx
    .updateTable("external_identities")
    .set({ ...said, last_login: at })
    .where("provider_id", "=", providerId)
    .where("subject", "=", subject)
    .execute();
}

/** Makes exactly these the memberships of this source; answers whether any changed. */
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

/** Whether another owner of the tenant could still sign in. */
export async function hasOtherOwner(trx: Trx, tenantId: string, adminId: string): Promise<boolean> {
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
