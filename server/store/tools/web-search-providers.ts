import type { Insertable, Selectable, Updateable } from "kysely";
import type { Database, Trx } from "../database.ts";
import { containing, pageOfRows } from "../records/paging.ts";
import { findInTenant, idByName, type RecordStore, writesById } from "../records/record-store.ts";
import type { WebSearchProviderTable } from "../tables/web-search.ts";

export type WebSearchProviderRow = Selectable<WebSearchProviderTable>;
export type WebSearchProviderInsert = Insertable<WebSearchProviderTable>;
export type WebSearchProviderPatch = Updateable<WebSearchProviderTable>;

interface WebSearchProviderFilters {
  readonly search?: string | undefined;
}

export const webSearchProviderStore: RecordStore<
  WebSearchProviderRow,
  WebSearchProviderInsert,
  WebSearchProviderPatch,
  WebSearchProviderFilters
> = {
  async page(db, tenantId, { search }, page) {
    let query = db.selectFrom("web_search_providers").where("tenant_id", "=", tenantId);
    if (search !== undefined) query = query.where("name", "ilike", containing(search));
    return pageOfRows(query, query.selectAll().orderBy("priority").orderBy("name"), page);
  },
  find: findInTenant("web_search_providers"),
  ...writesById("web_search_providers"),
};

export const webSearchProviderIdByName = idByName("web_search_providers");

/** Enabled ones, in the order in which they are tried. */
export async function readWebSearchProviders(db: Database | Trx, tenantId: string): Promise<WebSearchProviderRow[]> {
  return db
    .selectFrom("web_search_providers")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where("enabled", "=", true)
    .orderBy("priority")
    .orderBy("name")
    .execute();
}
