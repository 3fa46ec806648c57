import type { GroupTree, ResourceGroup } from "@gatehouse/contracts/resource-groups";
import { ancestorsOf, descendantsOf } from "../../store/groups/resource-groups.ts";
import type { Directory } from "../writes/write.ts";
import { resourceGroups, readResourceGroupRow } from "./resource-groups.ts";

/** Root first, excluding the group itself. */
export async function groupAncestors(directory: Directory, tenantId: string, id: string): Promise<ResourceGroup[]> {
  await resourceGroups.get(directory, tenantId, id);
  return (await ancestorsOf(directory.db, tenantId, id)).map(readResourceGroupRow);
}

/** Parents before children, excluding the group itself. */
export async function groupDescendants(directory: Directory, tenantId: string, id: string): Promise<ResourceGroup[]> {
  await resourceGroups.get(directory, tenantId, id);
  return (await descendantsOf(directory.db, tenantId, id)).map(readResourceGroupRow);
}

/** The group with the tree below it. */
export async function readGroupHierarchy(directory: Directory, tenantId: string, id: string): Promise<GroupTree> {
  const root: GroupTree = { ...(await resourceGroups.get(directory, tenantId, id)), children: [] };
  const nodes = new Map([[id, root]]);
  for (const row of await descendantsOf(directory.db, tenantId, id)) {
    const node: GroupTree = { ...readResourceGroupRow(row), children: [] };
    nodes.set(row.id, node);
    nodes.get(row.parent_group_id ?? "")?.children.push(node);
  }
  return root;
}
