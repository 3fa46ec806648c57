import { type Insertable, type Selectable, sql, type Updateable } from "kysely";
import type { Database, Trx } from "../database.ts";
import { containing, pageOfRows } from "../records/paging.ts";
import { idByName, lockThenFind, type RecordStore, writesById } from "../records/record-store.ts";
import type { ArgumentPolicyTable } from "../tables/policies.ts";

export type ArgumentPolicyRow = Selectable<ArgumentPolicyTable> & { readonly group_ids: string[] };
export type ArgumentPolicyInsert = Insertable<ArgumentPolicyTable>;
export type ArgumentPolicyPatch = Updateable<ArgumentPolicyTable>;

export interface ArgumentPolicyFilters {
  readonly search?: string | undefined;
  readonly target?: string | undefined;
}

const groupIds = sql<string[]>`ARRAY(SELECT b.group_id FROM argument_policy_groups b WHERE b.policy_id = p.id ORDER BY b.group_id)`;

export const argumentPolicyStore: RecordStore<ArgumentPolicyRow, ArgumentPolicyInsert, ArgumentPolicyPatch, ArgumentPolicyFilters> = {
  async page(db, tenantId, { search, target }, page) {
    let query = db.selectFrom("argument_policies as p").where("p.tenant_id", "=", tenantId);
    if (search !== undefined) query = query.where("p.name", "ilike", containing(search));
    if (target !== undefined) query = query.where("p.target", "=", target);
    return pageOfRows(query, query.selectAll("p").select(groupIds.as("group_ids")).orderBy("p.name"), page);
  },
  find: lockThenFind("argument_policies", (db, tenantId, id) =>
    db
      .selectFrom("argument_policies as p")
      .selectAll("p")
      .select(groupIds.as("group_ids"))
      .where("p.tenant_id", "=", tenantId)
      .where("p.id", "=", id)
      .executeTakeFirst(),
  ),
  ...writesById("argument_policies"),
};

export const argumentPolicyIdByName = idByName("argument_policies");

/** Enabled policies, by name. */
export async function readArgumentPolicies(db: Database | Trx, tenantId: string): Promise<ArgumentPolicyRow[]> {
  return db
    .selectFrom("argument_policies as p")
    .selectAll("p")
    .select(groupIds.as("group_ids"))
    .where("p.tenant_id", "=", tenantId)
    .where("p.enabled", "=", true)
    .orderBy("p.name")
    .execute();
}

/** Replaces the groups it is bound to. Null binds it to every group of the tenant, including future ones. */
export async function setArgumentPolicyGroups(trx: Trx, tenantId: string, policyId: string, ids: readonly string[] | null): Promise<void> {
  await trx
    .updateTable("argument_policies")
    .set({ all_groups: ids === null })
    .where("tenant_id", "=", tenantId)
    .where("id", "=", policyId)
    .execute();
  await trx.deleteFrom("argument_policy_groups").where("tenant_id", "=", tenantId).where("policy_id", "=", policyId).execute();
  if (ids !== null && ids.length > 0)
    await trx
      .insertInto("argument_policy_groups")
      .values(ids.map((groupId) => ({ policy_id: policyId, group_id: groupId, tenant_id: tenantId })))
      .execute();
}
