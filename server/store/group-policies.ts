import type { Database, Trx } from "./database.ts";

export interface GroupPolicyRow {
  readonly group_id: string;
  readonly kind: string;
  readonly item_id: string;
  readonly document: Record<string, unknown>;
}

export interface GroupNodeRow {
  readonly id: string;
  readonly name: string;
  readonly parent_group_id: string | null;
  readonly branches_left: number;
}

export interface PolicyRows {
  readonly groups: readonly GroupNodeRow[];
  readonly policies: readonly GroupPolicyRow[];
}

/** Every group of the tenant with every document: what a policy tree is made of. */
export async function readPolicyRows(db: Database | Trx, tenantId: string): Promise<PolicyRows> {
  const groups = await db
    .selectFrom("resource_groups")
    .select(["id", "name", "parent_group_id", "branches_left"])
    .where("tenant_id", "=", tenantId)
    .execute();
  const policies = await db
    .selectFrom("group_policies")
    .select(["group_id", "kind", "item_id", "document"])
    .where("tenant_id", "=", tenantId)
    .execute();
  return { groups, policies: policies as GroupPolicyRow[] };
}

/** A document that says nothing is taken away. */
export async function writePolicy(trx: Trx, tenantId: string, policy: GroupPolicyRow, now: Date): Promise<void> {
  const { group_id, kind, item_id } = policy;
  if (Object.keys(policy.document).length === 0) {
    await trx
      .deleteFrom("group_policies")
      .where("tenant_id", "=", tenantId)
      .where("group_id", "=", group_id)
      .where("kind", "=", kind)
      .where("item_id", "=", item_id)
      .execute();
    return;
  }
  const document = JSON.stringify(policy.document);
  await trx
    .insertInto("group_policies")
    .values({ tenant_id: tenantId, group_id, kind, item_id, document, updated_at: now })
    .onConflict((conflict) => conflict.columns(["group_id", "kind", "item_id"]).doUpdateSet({ document, updated_at: now }))
    .execute();
}

/** Takes away what any group says of an item that goes. */
export async function removePoliciesOf(trx: Trx, tenantId: string, kinds: readonly string[], itemId: string): Promise<void> {
  await trx
    .deleteFrom("group_policies")
    .where("tenant_id", "=", tenantId)
    .where("kind", "in", kinds)
    .where("item_id", "=", itemId)
    .execute();
}
