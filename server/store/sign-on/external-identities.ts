import type { Insertable, Selectable, Updateable } from "kysely";
import type { Database, Trx } from "../database.ts";
import { type Page, type Paged, pageOfRows } from "../records/paging.ts";
import type { ExternalIdentityTable } from "../tables/identity.ts";

export type ExternalIdentityRow = Selectable<ExternalIdentityTable>;

export async function externalIdentity(db: Database | Trx, providerId: string, subject: string): Promise<ExternalIdentityRow | undefined> {
  return db
    .selectFrom("external_identities")
    .selectAll()
    .where("provider_id", "=", providerId)
    .where("subject", "=", subject)
    .executeTakeFirst();
}

/** Takes over an identity recorded before subjects were encoded exactly; it is known by the exact subject from now on. */
export async function adoptFormerIdentity(
  trx: Trx,
  providerId: string,
  former: string,
  subject: string,
): Promise<ExternalIdentityRow | undefined> {
  return trx
    .updateTable("external_identities")
    .set({ subject, exact: true })
    .where("provider_id", "=", providerId)
    .where("subject", "=", former)
    .where("exact", "=", false)
    .returningAll()
    .executeTakeFirst();
}

export async function insertExternalIdentity(
  trx: Trx,
  identity: Insertable<ExternalIdentityTable> & { readonly exact: true },
): Promise<void> {
  await trx.insertInto("external_identities").values(identity).execute();
}

/** Records what the provider says about somebody who just signed in there. */
export async function noteExternalLogin(
  trx: Trx,
  providerId: string,
  subject: string,
  profile: Required<Pick<Updateable<ExternalIdentityTable>, "username" | "email">>,
  at: Date,
): Promise<void> {
  await trx
    .updateTable("external_identities")
    .set({ ...profile, last_login: at })
    .where("provider_id", "=", providerId)
    .where("subject", "=", subject)
    .execute();
}

export async function ownerSignsOnBy(trx: Trx, providerId: string): Promise<boolean> {
  const row = await trx
    .selectFrom("external_identities as e")
    .innerJoin("admin_users as a", "a.id", "e.admin_user_id")
    .select("a.id")
    .where("e.provider_id", "=", providerId)
    .where("a.role", "=", "owner")
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export interface ExternalIdentityFilters {
  readonly subject?: string | undefined;
  readonly end_user_id?: string | undefined;
  readonly admin_user_id?: string | undefined;
}

/** Earliest linked first. */
export async function externalIdentityPage(
  db: Database,
  tenantId: string,
  providerId: string,
  filters: ExternalIdentityFilters,
  page: Page,
): Promise<Paged<ExternalIdentityRow>> {
  let query = db.selectFrom("external_identities").where("tenant_id", "=", tenantId).where("provider_id", "=", providerId);
  for (const name of ["subject", "end_user_id", "admin_user_id"] as const) {
    const wanted = filters[name];
    if (wanted !== undefined) query = query.where(name, "=", wanted);
  }
  return pageOfRows(query, query.selectAll().orderBy("created_at").orderBy("subject"), page);
}

export async function deleteExternalIdentity(trx: Trx, providerId: string, subject: string): Promise<void> {
  await trx.deleteFrom("external_identities").where("provider_id", "=", providerId).where("subject", "=", subject).execute();
}
