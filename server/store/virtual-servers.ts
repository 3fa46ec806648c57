import type { Insertable, Selectable, Updateable } from "kysely";
import type { Database, Trx } from "./database.ts";
import { containing } from "./paging.ts";
import { findInTenant, type RecordStore, writesById } from "./record-store.ts";
import type { VirtualServerTable } from "./tables/tools.ts";

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
    const items = await query.selectAll().orderBy("name").limit(page.limit).offset(page.offset).execute();
    const { total } = await query.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
    return { items, total };
  },
  find: findInTenant("virtual_servers"),
  ...writesById("virtual_servers"),
};

export async function virtualServerNamed(db: Database | Trx, tenantId: string, name: string): Promise<string | undefined> {
  const row = await db
    .selectFrom("virtual_servers")
    .select("id")
    .where("tenant_id", "=", tenantId)
    .where("name", "=", name)
    .executeTakeFirst();
  return row?.id;
}
