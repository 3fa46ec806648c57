import { pageOfRows } from "../records/paging.ts";
import type { Insertable, Selectable, Updateable } from "kysely";
import type { Database, Trx } from "../database.ts";
import { findInTenant, type RecordStore, writesById } from "../records/record-store.ts";
import type { KnowledgeIdentityTable } from "../tables/knowledge.ts";

export type KbIdentityRow = Selectable<KnowledgeIdentityTable>;
export type KbIdentityInsert = Insertable<KnowledgeIdentityTable>;
export type KbIdentityPatch = Updateable<KnowledgeIdentityTable>;

interface KbIdentityFilters {
  readonly end_user_id?: string | undefined;
  readonly connector_type?: string | undefined;
}

export const kbIdentityStore: RecordStore<KbIdentityRow, KbIdentityInsert, KbIdentityPatch, KbIdentityFilters> = {
  async page(db, tenantId, filters, page) {
    let query = db.selectFrom("kb_identities").where("tenant_id", "=", tenantId);
    if (filters.end_user_id !== undefined) query = query.where("end_user_id", "=", filters.end_user_id);
    if (filters.connector_type !== undefined) query = query.where("connector_type", "=", filters.connector_type);
    return pageOfRows(query, query.selectAll().orderBy("created_at").orderBy("id"), page);
  },
  find: findInTenant("kb_identities"),
  ...writesById("kb_identities"),
};

export function identitiesOf(db: Database | Trx, tenantId: string, endUserId: string): Promise<KbIdentityRow[]> {
  return db
    .selectFrom("kb_identities")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where("end_user_id", "=", endUserId)
    .orderBy("connector_type")
    .orderBy("source_identity")
    .execute();
}

export async function sameIdentity(
  trx: Trx,
  tenantId: string,
  { end_user_id, connector_type, source_identity }: Pick<KbIdentityRow, "end_user_id" | "connector_type" | "source_identity">,
): Promise<string | undefined> {
  const row = await trx
    .selectFrom("kb_identities")
    .select("id")
    .where("tenant_id", "=", tenantId)
    .where("end_user_id", "=", end_user_id)
    .where("connector_type", "=", connector_type)
    .where("source_identity", "=", source_identity)
    .executeTakeFirst();
  return row?.id;
}
