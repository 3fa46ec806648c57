import { pageOfRows } from "../records/paging.ts";
import type { Insertable, Selectable, Updateable } from "kysely";
import type { Database, Trx } from "../database.ts";
import { findInTenant, idByName, type RecordStore, writesById } from "../records/record-store.ts";
import type { IdentityProviderTable } from "../tables/identity.ts";

export type IdentityProviderRow = Selectable<IdentityProviderTable>;
export type IdentityProviderInsert = Insertable<IdentityProviderTable>;
export type IdentityProviderPatch = Updateable<IdentityProviderTable>;

export const identityProviderStore: RecordStore<
  IdentityProviderRow,
  IdentityProviderInsert,
  IdentityProviderPatch,
  { readonly audience?: "portal" | "admin" | "api" | undefined }
> = {
  async page(db, tenantId, filters, page) {
    let query = db.selectFrom("identity_providers").where("tenant_id", "=", tenantId);
    if (filters.audience !== undefined) query = query.where("audience", "=", filters.audience);
    return pageOfRows(query, query.selectAll().orderBy("name"), page);
  },
  find: findInTenant("identity_providers"),
  ...writesById("identity_providers"),
};

export const identityProviderIdByName = idByName("identity_providers");

/** Enabled providers for an audience, in an enabled tenant. */
export async function enabledProviders(
  db: Database | Trx,
  tenantId: string,
  audience: IdentityProviderRow["audience"],
): Promise<IdentityProviderRow[]> {
  return db
    .selectFrom("identity_providers as p")
    .innerJoin("tenants", "tenants.id", "p.tenant_id")
    .selectAll("p")
    .where("p.tenant_id", "=", tenantId)
    .where("p.audience", "=", audience)
    .where("p.enabled", "=", true)
    .where("tenants.enabled", "=", true)
    .orderBy("p.name")
    .execute();
}
