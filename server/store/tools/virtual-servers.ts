import type { Insertable, Selectable, Updateable } from "kysely";
import { containing, pageOfRows } from "../records/paging.ts";
import { findInTenant, idByName, type RecordStore, writesById } from "../records/record-store.ts";
import type { VirtualServerTable } from "../tables/tools.ts";

export type VirtualServerRow = Selectable<VirtualServerTable>;
export type VirtualServerInsert = Insertable<VirtualServerTable>;
export type VirtualServerPatch = Updateable<VirtualServerTable>;

export const virtualServerStore: RecordStore<
  VirtualServerRow,
  VirtualServerInsert,
  VirtualServerPatch,
  { readonly search?: string | undefined }
> = {
  async page(db, tenantId, filters, page) {
    let query = db.selectFrom("virtual_servers").where("tenant_id", "=", tenantId);
    if (filters.search !== undefined) query = query.where("name", "ilike", containing(filters.search));
    return pageOfRows(query, query.selectAll().orderBy("name"), page);
  },
  find: findInTenant("virtual_servers"),
  ...writesById("virtual_servers"),
};

export const virtualServerIdByName = idByName("virtual_servers");
