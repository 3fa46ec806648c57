import type { Insertable, Selectable, Updateable } from "kysely";
import type { Database, Trx } from "./database.ts";
import { containing } from "./paging.ts";
import type { RecordStore } from "./record-store.ts";
import type { ArgumentPolicyTable } from "./guard-tables.ts";

export type ArgumentPolicyRow = Selectable<ArgumentPolicyTable>;
export type ArgumentPolicyInsert = Insertable<ArgumentPolicyTable>;
export type ArgumentPolicyPatch = Updateable<ArgumentPolicyTable>;

export const argumentPolicyStore: RecordStore<ArgumentPolicyRow, ArgumentPolicyInsert, ArgumentPolicyPatch, { readonly search?: string | undefined }> = {
  async page(db, tenantId, filters, page) {
    let query = db.selectFrom("argument_policies").where("tenant_id", "=", tenantId);
    if (filters.search !== undefined) query = query.where("name", "ilike", containing(filters.search));
    const items = await query.selectAll().orderBy("name").limit(page.limit).offset(page.offset).execute();
    const { total } = await query.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
    return { items, total };
  },
  find: (db, tenantId, id, lock) => {
    const query = db.selectFrom("argument_policies").selectAll().where("tenant_id", "=", tenantId).where("id", "=", id);
    return (lock === undefined ? query : query.forUpdate()).executeTakeFirst();
  },
  insert: async (trx, values) => {
    await trx.insertInto("argument_policies").values(values).execute();
  },
  update: async (trx, id, patch) => {
    await trx.updateTable("argument_policies").set(patch).where("id", "=", id).execute();
  },
  remove: async (trx, id) => {
    await trx.deleteFrom("argument_policies").where("id", "=", id).execute();
  },
};

export async function argumentPolicyIdByName(db: Database | Trx, tenantId: string, name: string): Promise<string | undefined> {
  const row = await db.selectFrom("argument_policies").select("id").where("tenant_id", "=", tenantId).where("name", "=", name).executeTakeFirst();
  return row?.id;
}
