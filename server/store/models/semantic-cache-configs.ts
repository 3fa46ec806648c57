import { type Insertable, type Selectable, sql, type Updateable } from "kysely";
import type { Database, Trx } from "../database.ts";
import { containing, pageOfRows } from "../records/paging.ts";
import { idByName, lockThenFind, type RecordStore, writesById } from "../records/record-store.ts";
import type { SemanticCacheConfigTable } from "../tables/policies.ts";

export type SemanticCacheConfigRow = Selectable<SemanticCacheConfigTable> & { readonly group_ids: string[] };
export type SemanticCacheConfigInsert = Insertable<SemanticCacheConfigTable>;
export type SemanticCacheConfigPatch = Updateable<SemanticCacheConfigTable>;

const groupIds = sql<string[]>`ARRAY(SELECT b.group_id FROM semantic_cache_config_groups b WHERE b.config_id = c.id ORDER BY b.group_id)`;

export const semanticCacheConfigStore: RecordStore<
  SemanticCacheConfigRow,
  SemanticCacheConfigInsert,
  SemanticCacheConfigPatch,
  { readonly search?: string | undefined }
> = {
  async page(db, tenantId, { search }, page) {
    let query = db.selectFrom("semantic_cache_configs as c").where("c.tenant_id", "=", tenantId);
    if (search !== undefined) query = query.where("c.name", "ilike", containing(search));
    return pageOfRows(query, query.selectAll("c").select(groupIds.as("group_ids")).orderBy("c.name"), page);
  },
  find: lockThenFind("semantic_cache_configs", (db, tenantId, id) =>
    db
      .selectFrom("semantic_cache_configs as c")
      .selectAll("c")
      .select(groupIds.as("group_ids"))
      .where("c.tenant_id", "=", tenantId)
      .where("c.id", "=", id)
      .executeTakeFirst(),
  ),
  ...writesById("semantic_cache_configs"),
};

export const semanticCacheConfigIdByName = idByName("semantic_cache_configs");

/** Oldest first: if two apply to a group, the older wins. */
export async function readSemanticCacheConfigs(db: Database | Trx, tenantId: string): Promise<SemanticCacheConfigRow[]> {
  return db
    .selectFrom("semantic_cache_configs as c")
    .selectAll("c")
    .select(groupIds.as("group_ids"))
    .where("c.tenant_id", "=", tenantId)
    .orderBy("c.created_at")
    .orderBy("c.id")
    .execute();
}

/** Replaces the groups it is bound to. */
export async function setSemanticCacheGroups(trx: Trx, tenantId: string, configId: string, ids: readonly string[]): Promise<void> {
  await trx.deleteFrom("semantic_cache_config_groups").where("tenant_id", "=", tenantId).where("config_id", "=", configId).execute();
  if (ids.length > 0)
    await trx
      .insertInto("semantic_cache_config_groups")
      .values(ids.map((groupId) => ({ config_id: configId, group_id: groupId, tenant_id: tenantId })))
      .execute();
}

/** Names of configurations that embed with the model, at most `limit`. */
export async function cachesEmbeddingWith(db: Database | Trx, tenantId: string, modelId: string, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom("semantic_cache_configs")
    .select("name")
    .where("tenant_id", "=", tenantId)
    .where("embedding_model_id", "=", modelId)
    .orderBy("name")
    .limit(limit)
    .execute();
  return rows.map((row) => row.name);
}
