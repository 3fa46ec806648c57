import type { Insertable, Selectable, Updateable } from "kysely";
import { containing, pageOfRows } from "../records/paging.ts";
import { findInTenant, idByName, type RecordStore, writesById } from "../records/record-store.ts";
import type { WebhookTable } from "../tables/webhooks.ts";

export type WebhookRow = Selectable<WebhookTable>;
export type WebhookInsert = Insertable<WebhookTable>;
export type WebhookPatch = Updateable<WebhookTable>;

export const webhookStore: RecordStore<WebhookRow, WebhookInsert, WebhookPatch, { readonly search?: string | undefined }> = {
  async page(db, tenantId, { search }, page) {
    let query = db.selectFrom("webhooks").where("tenant_id", "=", tenantId);
    if (search !== undefined) query = query.where("name", "ilike", containing(search));
    return pageOfRows(query, query.selectAll().orderBy("name"), page);
  },
  find: findInTenant("webhooks"),
  ...writesById("webhooks"),
};

export const webhookIdByName = idByName("webhooks");
