import type { Trx } from "../database.ts";
import type { GroupPolicyRow } from "./group-policy-rows.ts";

/** An empty document deletes the policy. */
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

/** Deletes all groups' policies for an item that is being deleted. */
export async function removePoliciesOf(trx: Trx, tenantId: string, kinds: readonly string[], itemId: string): Promise<void> {
  await trx
    .deleteFrom("group_policies")
    .where("tenant_id", "=", tenantId)
    .where("kind", "in", kinds)
    .where("item_id", "=", itemId)
    .execute();
}
