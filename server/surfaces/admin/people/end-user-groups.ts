import { listOf, pageQuery } from "@gatehouse/contracts/conventions";
import {
  endUserGroup,
  endUserGroupCreate,
  endUserGroupIds,
  endUserGroupIdsQuery,
  endUserGroupQuery,
  endUserGroupUpdate,
  groupMember,
  maybeEndUserGroupIds,
  maybeMemberIds,
  maybeResourceGroupIds,
  memberIds,
  memberIdsQuery,
  memberSet,
  memberSetResult,
  resourceGroupIds,
  resourceGroupIdsQuery,
} from "@gatehouse/contracts/end-user-groups";
import { bindingResult, unbindingResult } from "@gatehouse/contracts/group-models";
import { z } from "zod";
import {
  addGroupMembers,
  bindEndUserGroupsTo,
  bindToResourceGroups,
  endUserGroups,
  listEndUserGroupsOf,
  listMembers,
  listResourceGroupsOf,
  removeGroupMembers,
  setGroupMembers,
  unbindEndUserGroupsFrom,
  unbindFromResourceGroups,
} from "../../../directory/people/end-user-groups.ts";
import { idsToUnbind } from "../ids-to-unbind.ts";
import { operation, type AdminOperation } from "../operation.ts";
import { idOf, listed, resource } from "../resource.ts";

const PATH = "/v1/admin/end-user-groups";
const MEMBERS = `${PATH}/{id}/members`;
const BINDINGS = `${PATH}/{id}/resource-groups`;
const OF_RESOURCE_GROUP = "/v1/admin/resource-groups/{id}/end-user-groups";

const tag = "End-user groups";
const reading = { tag, access: "users:read", reach: "one", subject: "end_user_groups" } as const;
const writing = { tag, access: "users:write", reach: "one", subject: "end_user_groups" } as const;
const groupReading = { tag, access: "groups:read", reach: "one", subject: "resource_groups" } as const;
const groupWriting = { tag, access: "groups:write", reach: "one", subject: "resource_groups" } as const;

const boundGroups = z
  .strictObject({
    resource_groups: z.array(z.strictObject({ id: z.uuid(), name: z.string(), display_name: z.string().nullable() })),
    total: z.number().int(),
  })
  .meta({ id: "BoundResourceGroups" });

const groupsNamed = (body: { resource_group_ids?: string[] | undefined; group_ids?: string[] | undefined }) =>
  body.resource_group_ids ?? body.group_ids ?? [];

const memberOperations: readonly AdminOperation[] = [
  operation({
    ...reading,
    method: "GET",
    path: MEMBERS,
    summary: "List the members of an end-user group",
    query: pageQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("members", groupMember) },
    run: (call) => listed("members", call, (page) => listMembers(call.services.directory, call.tenantId, idOf(call), page)),
  }),
  operation({
    ...writing,
    method: "POST",
    path: MEMBERS,
    summary: "Add members to an end-user group",
    description: "Adds those who are not direct members yet; if all are, 409 already_bound.",
    body: memberIds,
    answer: { status: 200, about: "Who was added", schema: bindingResult },
    run: (call) => call.write((write) => addGroupMembers(write, call.tenantId, idOf(call), call.body.end_user_ids)),
  }),
  operation({
    ...writing,
    method: "PUT",
    path: MEMBERS,
    summary: "Set the direct members of an end-user group",
    description: "The body is the whole set. Memberships from an external directory stay.",
    body: memberSet,
    answer: { status: 200, about: "What changed", schema: memberSetResult },
    run: (call) => call.write((write) => setGroupMembers(write, call.tenantId, idOf(call), call.body.end_user_ids)),
  }),
  operation({
    ...writing,
    method: "DELETE",
    path: MEMBERS,
    summary: "Remove members from an end-user group",
    description: "Send the IDs in the body or in the query. If none of them is a direct member, 404 not_bound.",
    query: memberIdsQuery,
    body: maybeMemberIds,
    answer: { status: 200, about: "Who was taken out", schema: unbindingResult },
    run(call) {
      const { end_user_ids: ids } = idsToUnbind(memberIds, "end_user_ids", call.query.end_user_ids, call.body);
      return call.write((write) => removeGroupMembers(write, call.tenantId, idOf(call), ids));
    },
  }),
];

const bindingOperations: readonly AdminOperation[] = [
  operation({
    ...reading,
    method: "GET",
    path: BINDINGS,
    summary: "List the resource groups an end-user group is bound to",
    answer: { status: 200, about: "All of them", schema: boundGroups },
    async run(call) {
      const groups = await listResourceGroupsOf(call.services.directory, call.tenantId, idOf(call));
      return { resource_groups: groups, total: groups.length };
    },
  }),
  operation({
    ...writing,
    method: "POST",
    path: BINDINGS,
    summary: "Bind an end-user group to resource groups",
    description: "Its members may then use them. When all are bound already, 409 already_bound.",
    body: resourceGroupIds,
    answer: { status: 200, about: "What was bound", schema: bindingResult },
    run: (call) => call.write((write) => bindToResourceGroups(write, call.tenantId, idOf(call), groupsNamed(call.body))),
  }),
  operation({
    ...writing,
    method: "DELETE",
    path: BINDINGS,
    summary: "Unbind an end-user group from resource groups",
    description: "Send the IDs in the body or in the query. If none is bound, 404 not_bound.",
    query: resourceGroupIdsQuery,
    body: maybeResourceGroupIds,
    answer: { status: 200, about: "What was unbound", schema: unbindingResult },
    run(call) {
      const ids = groupsNamed(idsToUnbind(resourceGroupIds, "resource_group_ids", call.query.resource_group_ids, call.body));
      return call.write((write) => unbindFromResourceGroups(write, call.tenantId, idOf(call), ids));
    },
  }),
  operation({
    ...groupReading,
    method: "GET",
    path: OF_RESOURCE_GROUP,
    summary: "List the end-user groups bound to a resource group",
    query: pageQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("end_user_groups", endUserGroup) },
    run: (call) => listed("end_user_groups", call, (page) => listEndUserGroupsOf(call.services.directory, call.tenantId, idOf(call), page)),
  }),
  operation({
    ...groupWriting,
    method: "POST",
    path: OF_RESOURCE_GROUP,
    summary: "Bind end-user groups to a resource group",
    description: "Their members may then use it. When all are bound already, 409 already_bound.",
    body: endUserGroupIds,
    answer: { status: 200, about: "What was bound", schema: bindingResult },
    run: (call) => call.write((write) => bindEndUserGroupsTo(write, call.tenantId, idOf(call), call.body.end_user_group_ids)),
  }),
  operation({
    ...groupWriting,
    method: "DELETE",
    path: OF_RESOURCE_GROUP,
    summary: "Unbind end-user groups from a resource group",
    description: "Send the IDs in the body or in the query. If none is bound, 404 not_bound.",
    query: endUserGroupIdsQuery,
    body: maybeEndUserGroupIds,
    answer: { status: 200, about: "What was unbound", schema: unbindingResult },
    run(call) {
      const { end_user_group_ids: ids } = idsToUnbind(endUserGroupIds, "end_user_group_ids", call.query.end_user_group_ids, call.body);
      return call.write((write) => unbindEndUserGroupsFrom(write, call.tenantId, idOf(call), ids));
    },
  }),
];

export const endUserGroupOperations: readonly AdminOperation[] = [
  ...resource({
    path: PATH,
    key: "end_user_groups",
    noun: "end-user group",
    article: "an",
    tag,
    area: "users",
    table: "end_user_groups",
    records: endUserGroups,
    query: endUserGroupQuery,
    create: endUserGroupCreate,
    update: endUserGroupUpdate,
    read: endUserGroup,
    notes: { remove: "Its members stay, and what the group was bound to is closed to them." },
  }),
  ...memberOperations,
  ...bindingOperations,
];
