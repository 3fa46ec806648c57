import type { PolicyRows } from "../../store/groups/group-policy-rows.ts";
import { PolicyTree } from "./policy-tree.ts";
import type { PolicyKind } from "./rules.ts";

export function policyTreeOf({ groups, policies }: PolicyRows): PolicyTree {
  return new PolicyTree(
    groups.map(({ id, name, parent_group_id, branches_left }) => ({ id, name, parentId: parent_group_id, branchesLeft: branches_left })),
    policies.map(({ group_id, kind, item_id, document }) => ({ groupId: group_id, kind: kind as PolicyKind, itemId: item_id, document })),
  );
}
