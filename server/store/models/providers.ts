import type { Insertable, Selectable, Updateable } from "kysely";
import type { Database, Trx } from "../database.ts";
import { containing, pageOfRows } from "../records/paging.ts";
import { findInTenant, type RecordStore, writesById } from "../records/record-store.ts";
import type { ProviderTable } from "../tables/models.ts";

export type ProviderRow = Selectable<ProviderTable>;
export type ProviderInsert = Insertable<ProviderTable>;
export type ProviderPatch = Updateable<ProviderTable>;

export interface ProviderFilters {
  readonly search?: string | undefined;
  readonly provider_key?: string | undefined;
}

export const providerStore: RecordStore<ProviderRow, ProviderInsert, ProviderPatch, ProviderFilters> = {
  async page(db, tenantId, filters, page) {
    let query = db.selectFrom("providers").where("tenant_id", "=", tenantId);
    if (filters.provider_key !== undefined) query = query.where("provider_key", "=", filters.provider_key);
    if (filters.search !== undefined) {
      const pattern = containing(filters.search);
      query = query.where((eb) => eb.or([eb("provider_key", "ilike", pattern), eb("name", "ilike", pattern)]));
    }
    return pageOfRows(query, query.selectAll().orderBy("provider_key"), page);
  },
  find: findInTenant("providers"),
  ...writesById("providers"),
};

export async function providerByKey(db: Database | Trx, tenantId: string, providerKey: string): Promise<ProviderRow | undefined> {
  return db
    .selectFrom("providers")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where("provider_key", "=", providerKey)
    .executeTakeFirst();
}

export async function providerById(db: Database | Trx, tenantId: string, id: string): Promise<ProviderRow | undefined> {
  return providerStore.find(db, tenantId, id);
}

/** Whether a model of the provider has its own key that is sent to the provider's address. */
export async function keyedModelFollows(db: Database | Trx, providerId: string): Promise<boolean> {
  const row = await db
    .selectFrom("models")
    .select("id")
    .where("provider_id", "=", providerId)
    .where("api_key_sealed", "is not", null)
    .where("base_url", "is", null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Whether a model of the provider has its own key, whatever address it is sent to. */
export async function keyedModelOf(db: Database | Trx, providerId: string): Promise<boolean> {
  const keyed = db.selectFrom("models").select("id").where("provider_id", "=", providerId).where("api_key_sealed", "is not", null);
  return (await keyed.limit(1).executeTakeFirst()) !== undefined;
}

/** Names of models of the provider, at most `limit`. */
export async function modelsOfProvider(db: Database | Trx, providerId: string, limit: number): Promise<string[]> {
  const rows = await db.selectFrom("models").select("name").where("provider_id", "=", providerId).orderBy("name").limit(limit).execute();
  return rows.map((row) => row.name);
}
