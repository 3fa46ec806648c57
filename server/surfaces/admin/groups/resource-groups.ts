import {
  groupHierarchy,
  groupLine,
  resourceGroup,
  resourceGroupCreate,
  resourceGroupQuery,
  resourceGroupUpdate,
} from "@gatehouse/contracts/resource-groups";
import { groupAncestors, groupDescendants, readGroupHierarchy as hierarchyOf } from "../../../directory/groups/group-hierarchy.ts";
import { resourceGroups } from "../../../directory/groups/resource-groups.ts";
import { operation, type AdminOperation } from "../operation.ts";
import { idOf, resource } from "../resource.ts";

const PATH = "/v1/admin/resource-groups";
const reading = { method: "GET", tag: "Resource groups", access: "groups:read", reach: "one", subject: "resource_groups" } as const;

const line = (groups: unknown[]) => ({ resource_groups: groups, total: groups.length });

export const resourceGroupOperations: readonly AdminOperation[] = [
  ...resource({
    path: PATH,
    key: "resource_groups",
    noun: "resource group",
    tag: "Resource groups",
    area: "groups",
    table: "resource_groups",
    records: resourceGroups,
    query: resourceGroupQuery,
    create: resourceGroupCreate,
    update: resourceGroupUpdate,
    read: resourceGroup,
    notes: {
      create: "A parent must exist before its children.",
      update: "Members left out of the body stay unchanged. A group cannot be moved below itself.",
      remove: "Refused with in_use while it has children, active keys or users. Its bindings are deleted with it.",
    },
  }),
  operation({
    ...reading,
    path: `${PATH}/{id}/hierarchy`,
    summary: "The tree below a resource group",
    answer: { status: 200, about: "The group with its children, and theirs", schema: groupHierarchy },
    run: async (call) => ({ hierarchy: await hierarchyOf(call.services.directory, call.tenantId, idOf(call)) }),
  }),
  operation({
    ...reading,
    path: `${PATH}/{id}/ancestors`,
    summary: "The groups above a resource group",
    answer: { status: 200, about: "Root first, without the group itself", schema: groupLine },
    run: async (call) => line(await groupAncestors(call.services.directory, call.tenantId, idOf(call))),
  }),
  operation({
    ...reading,
    path: `${PATH}/{id}/descendants`,
    summary: "The groups below a resource group",
    answer: { status: 200, about: "Parents before children, without the group itself", schema: groupLine },
    run: async (call) => line(await groupDescendants(call.services.directory, call.tenantId, idOf(call))),
  }),
];
