import { type Insertable, type Selectable, sql, type Updateable } from "kysely";
import type { Database, Trx } from "../database.ts";
import { containing, pageOfRows } from "../records/paging.ts";
import { idByName, lockThenFind, type RecordStore, writesById } from "../records/record-store.ts";
import type { SemanticPolicyTable } from "../tables/policies.ts";

export type SemanticPolicyRow = Selectable<SemanticPolicyTable> & { readonly group_ids: string[] };
export type SemanticPolicyInsert = Insertable<SemanticPolicyTable>;
export type SemanticPolicyPatch = Updateable<SemanticPolicyTable>;

const groupIds = sql<string[]>`ARRAY(SELECT b.group_id FROM semantic_policy_groups b WHERE b.policy_id = p.id ORDER BY b.group_id)`;

export const semanticPolicyStore: RecordStore<
  SemanticPolicyRow,
  SemanticPolicyInsert,
  SemanticPolicyPatch,
  { readonly search?: string | undefined }
> = {
  async page(db, tenantId, { search }, page) {
    let query = db.selectFrom("semantic_policies as p").where("p.tenant_id", "=", tenantId);
    if (search !== undefined) query = query.where("p.name", "ilike", containing(search));
    return pageOfRows(query, query.selectAll("p").select(groupIds.as("group_ids")).orderBy("p.name"), page);
  },
  find: lockThenFind("semantic_policies", (db, tenantId, id) =>
    db
      .selectFrom("semantic_policies as p")
      .selectAll("p")
      .select(groupIds.as("group_ids"))
      .where("p.tenant_id", "=", tenantId)
      .where("p.id", "=", id)
      .executeTakeFirst(),
  ),
  ...writesById("semantic_policies"),
};

export const semanticPolicyIdByName = idByName("semantic_policies");

export async function readSemanticPolicies(db: Database | Trx, tenantId: string): Promise<SemanticPolicyRow[]> {
  return db
    .selectFrom("semantic_policies as p")
    .selectAll("p")
    .select(groupIds.as("group_ids"))
    .where("p.tenant_id", "=", tenantId)
    .where("p.enabled", "=", true)
    .orderBy("p.name")
    .execute();
}

/** Replaces the groups it is bound to. */
export async function setSemanticPolicyGroups(trx: Trx, tenantId: string, policyId: string, ids: readonly string[]): Promise<void> {
  await trx.deleteFrom("semantic_policy_groups").where("tenant_id", "=", tenantId).where("policy_id", "=", policyId).execute();
  if (ids.length > 0)
    await trx
      .insertInto("semantic_policy_groups")
      .values(ids.map((groupId) => ({ policy_id: policyId, group_id: groupId, tenant_id: tenantId })))
      .execute();
}

/** Names of policies that use the model as their judge, at most `limit`. */
export async function policiesJudgedBy(db: Database | Trx, tenantId: string, modelId: string, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom("semantic_policies")
    .select("name")
    .where("tenant_id", "=", tenantId)
    .where("judge_model_id", "=", modelId)
    .orderBy("name")
    .limit(limit)
    .execute();
  return rows.map((row) => row.name);
}

/** Those of the groups to which the model is neither bound nor inherited: there it may judge and nothing else. */
export async function groupsOnlyJudgedBy(
  trx: Trx,
  tenantId: string,
  groupIdsOf: readonly string[] | "roots",
  modelId: string,
): Promise<string[]> {
  const chosen = groupIdsOf === "roots" ? sql`g.parent_group_id IS NULL` : sql`g.id = ANY(${groupIdsOf as string[]}::uuid[])`;
  const { rows } = await sql<{ leaf: string }>`WITH RECURSIVE chain AS (
      SELECT g.id AS leaf, g.id, g.parent_group_id, g.inherit_resources FROM resource_groups g WHERE g.tenant_id = ${tenantId} AND ${chosen}
      UNION
      SELECT chain.leaf, g.id, g.parent_group_id, g.inherit_resources
        FROM chain JOIN resource_groups g ON g.id = chain.parent_group_id AND g.tenant_id = ${tenantId} WHERE chain.inherit_resources
    )
    SELECT leaf FROM chain LEFT JOIN resource_group_models b ON b.group_id = chain.id AND b.model_id = ${modelId}::uuid
     GROUP BY leaf HAVING count(b.model_id) = 0 ORDER BY leaf`.execute(trx);
  return rows.map(({ leaf }) => leaf);
}
