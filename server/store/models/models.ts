import { sql, type Insertable, type Selectable, type Updateable } from "kysely";
import type { Database, Trx } from "../database.ts";
import { containing, pageOfRows } from "../records/paging.ts";
import { idByName, lockThenFind, type RecordStore, writesById } from "../records/record-store.ts";
import type { ModelTable } from "../tables/models.ts";

export type ModelRow = Selectable<ModelTable> & { readonly provider_key: string; readonly group_ids: string[] };
export type ModelInsert = Insertable<ModelTable>;
export type ModelPatch = Updateable<ModelTable>;

export interface ModelFilters {
  readonly search?: string | undefined;
  readonly mode?: string | undefined;
  readonly provider_key?: string | undefined;
}

const groupIds = sql<string[]>`ARRAY(SELECT b.group_id FROM resource_group_models b WHERE b.model_id = m.id ORDER BY b.group_id)`;

function modelsOf(db: Database | Trx, tenantId: string) {
  return db.selectFrom("models as m").innerJoin("providers as p", "p.id", "m.provider_id").where("m.tenant_id", "=", tenantId);
}

export const modelStore: RecordStore<ModelRow, ModelInsert, ModelPatch, ModelFilters> = {
  async page(db, tenantId, filters, page) {
    let query = modelsOf(db, tenantId);
    if (filters.mode !== undefined) query = query.where(sql<boolean>`${filters.mode} = ANY(m.modes)`);
    if (filters.provider_key !== undefined) query = query.where("p.provider_key", "=", filters.provider_key);
    if (filters.search !== undefined) {
      const pattern = containing(filters.search);
      query = query.where((eb) => eb.or([eb("m.name", "ilike", pattern), eb("m.model_name", "ilike", pattern)]));
    }
    const rows = query
      .selectAll("m")
      .select(["p.provider_key", groupIds.as("group_ids")])
      .orderBy("m.name");
    return pageOfRows(query, rows, page);
  },
  find: lockThenFind("models", (db, tenantId, id) =>
    modelsOf(db, tenantId)
      .selectAll("m")
      .select(["p.provider_key", groupIds.as("group_ids")])
      .where("m.id", "=", id)
      .executeTakeFirst(),
  ),
  ...writesById("models"),
};

export const modelIdByName = idByName("models");

/** Those of the IDs that are models of the tenant. */
export async function knownModels(db: Database | Trx, tenantId: string, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await db.selectFrom("models").select("id").where("tenant_id", "=", tenantId).where("id", "in", ids).execute();
  return new Set(rows.map((row) => row.id));
}

/** Share-locks the model until the transaction ends, so that nobody deletes or changes it while others may refer to it too. */
export async function lockedModel(trx: Trx, tenantId: string, id: string): Promise<Pick<ModelRow, "id" | "name" | "modes"> | undefined> {
  return trx
    .selectFrom("models")
    .select(["id", "name", "modes"])
    .where("tenant_id", "=", tenantId)
    .where("id", "=", id)
    .forKeyShare()
    .executeTakeFirst();
}

export async function judgesByDefault(db: Database | Trx, tenantId: string, modelId: string): Promise<boolean> {
  const row = await db
    .selectFrom("tenants")
    .select("id")
    .where("id", "=", tenantId)
    .where("default_judge_model_id", "=", modelId)
    .executeTakeFirst();
  return row !== undefined;
}

/** The modes of a routing group's members, by member name. */
export async function membersOfGroup(
  db: Database | Trx,
  tenantId: string,
  routingGroupId: string,
): Promise<{ name: string; modes: string[] }[]> {
  return db
    .selectFrom("models")
    .select(["name", "modes"])
    .where("tenant_id", "=", tenantId)
    .where("routing_group_id", "=", routingGroupId)
    .orderBy("name")
    .execute();
}

/** The tenant's models that are members of routing groups. */
export async function routedModels(db: Database | Trx, tenantId: string, routingGroupIds: readonly string[]): Promise<ModelRow[]> {
  if (routingGroupIds.length === 0) return [];
  return modelsOf(db, tenantId)
    .selectAll("m")
    .select(["p.provider_key", groupIds.as("group_ids")])
    .where("m.routing_group_id", "in", routingGroupIds)
    .orderBy("m.name")
    .execute();
}

/**
 * Writes the result of a probe, leaving `updated_at` alone because the configuration did not change. Returns true if it is the first result
 * or differs from the last; false also if the model is gone.
 */
export async function recordHealth(db: Database | Trx, tenantId: string, modelId: string, healthy: boolean, at: Date): Promise<boolean> {
  const { rows } = await sql<{ news: boolean }>`
    UPDATE models m SET is_healthy = ${healthy}, health_checked_at = ${at}
      FROM (SELECT id, is_healthy FROM models WHERE tenant_id = ${tenantId} AND id = ${modelId} FOR UPDATE) before
     WHERE m.id = before.id
    RETURNING before.is_healthy IS DISTINCT FROM ${healthy} AS news`.execute(db);
  return rows[0]?.news ?? false;
}

/** Records that the model gives up its name, so that its usage under that name until `until` stays its own. */
export async function noteFormerName(
  trx: Trx,
  { id, tenant_id, name }: Pick<ModelRow, "id" | "tenant_id" | "name">,
  until: Date,
): Promise<void> {
  await trx
    .insertInto("former_model_names")
    .values({ tenant_id, name, until, model_id: id })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** For models reached through the provider's record. */
export async function forgetHealthOfProvider(trx: Trx, providerId: string): Promise<void> {
  await trx
    .updateTable("models")
    .set({ is_healthy: null, health_checked_at: null })
    .where("provider_id", "=", providerId)
    .where("health_checked_at", "is not", null)
    .execute();
}
