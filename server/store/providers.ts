import type { Insertable, Selectable, Updateable } from "kysely";
import type { Database, Trx } from "./database.ts";
import { containing } from "./paging.ts";
import type { RecordStore } from "./record-store.ts";
import type { ProviderTable } from "./schema.ts";

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
    const items = await query.selectAll().orderBy("provider_key").limit(page.limit).offset(page.offset).execute();
    const { total } = await query.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
    return { items, total };
  },
  find: (db, tenantId, id, lock) => {
    const query = db.selectFrom("providers").selectAll().where("tenant_id", "=", tenantId).where("id", "=", id);
    return (lock === undefined ? query : query.forUpdate()).executeTakeFirst();
  },
  insert: async (trx, values) => {
    await trx.insertInto("providers").values(values).execute();
  },
  update: async (trx, id, patch) => {
    await trx.updateTable("providers").set(patch).where("id", "=", id).execute();
  },
  remove: async (trx, id) => {
    await trx.deleteFrom("providers").where("id", "=", id).execute();
  },
};

export async function providerByKey(db: Database | Trx, tenantId: string, providerKey: string): Promise<ProviderRow | undefined> {
  return db.selectFrom("providers").selectAll().where("tenant_id", "=", tenantId).where("provider_key", "=", providerKey).executeTakeFirst();
}

export async function providerById(db: Database | Trx, tenantId: string, id: string): Promise<ProviderRow | undefined> {
  return providerStore.find(db, tenantId, id);
}

/** Whether a model of the provider has a key of its own that goes to the provider's address. */
export async function keyedModelFollows(db: Database | Trx, providerId: string): Promise<boolean> {
  const row = await db.selectFrom("models").select("id").where("provider_id", "=", providerId).where("api_key_sealed", "is not", null).where("base_url", "is", null).limit(1).executeTakeFirst();
  return row !== undefined;
}

/** Names of models of the provider, at most `limit`. */
export async function modelsOfProvider(db: Database | Trx, providerId: string, limit: number): Promise<string[]> {
  const rows = await db.selectFrom("models").select("name").where("provider_id", "=", providerId).orderBy("name").limit(limit).execute();
  return rows.map((row) => row.name);
}
