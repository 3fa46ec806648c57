import type { Database, Trx } from "../database.ts";

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

/** Every group and policy document of the tenant, from which its policy tree is built. */
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
