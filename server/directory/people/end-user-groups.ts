import type {
  EndUserGroup,
  EndUserGroupCreate,
  EndUserGroupQuery,
  EndUserGroupUpdate,
  GroupMember,
} from "@gatehouse/contracts/end-user-groups";
import { refuse, Refused } from "../../kernel/errors.ts";
import { uuid } from "../../kernel/ids.ts";
import {
  addMembers,
  directMembers,
  endUserGroupIdByName,
  endUserGroupStore,
  knownOf,
  groupMembersOf,
  removeMembers,
  type EndUserGroupInsert,
  type EndUserGroupPatch,
  type EndUserGroupRow,
} from "../../store/people/end-user-groups.ts";
import {
  bindEndUserGroups,
  endUserGroupsOfResourceGroup,
  lockBindings,
  resourceGroupsOfEndUserGroup,
  unbindEndUserGroups,
  type Binding,
} from "../../store/people/end-user-group-bindings.ts";
import type { Page, Paged } from "../../store/records/paging.ts";
import { resourceGroupStore } from "../../store/groups/resource-groups.ts";
import { guardDirectoryGroup, guardDirectoryGroupRemoval } from "./directory-owned.ts";
import { invalidField, notFound, records } from "../writes/records.ts";
import type { Directory, Write } from "../writes/write.ts";

const RESOURCE = "end-user-groups";

function read(row: EndUserGroupRow): EndUserGroup {
  return {
    id: row.id,
    tenant_id: row.tenant_id,
    name: row.name,
    display_name: row.display_name,
    description: row.description,
    member_count: row.member_count,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** The deduplicated IDs; refuses IDs that are not records of the tenant. */
async function allKnown(
  write: Write,
  table: Parameters<typeof knownOf>[1],
  tenantId: string,
  ids: readonly string[],
  field: string,
  noun: string,
): Promise<string[]> {
  const wanted = [...new Set(ids)];
  const known = await knownOf(write.trx, table, tenantId, wanted);
  const unknown = wanted.filter((id) => !known.has(id));
  if (unknown.length > 0) throw invalidField(field, `names no ${noun} of this tenant: ${unknown.slice(0, 5).join(", ")}`);
  return wanted;
}

export const endUserGroups = records<
  EndUserGroupRow,
  EndUserGroupInsert,
  EndUserGroupPatch,
  EndUserGroup,
  EndUserGroupCreate,
  EndUserGroupUpdate,
  EndUserGroupQuery,
  string
>({
  resource: RESOURCE,
  noun: "end-user group",
  store: endUserGroupStore,
  read,
  tenantOf: (row) => row.tenant_id,
  takenBy: (write, tenantId, candidate) => endUserGroupIdByName(write.trx, tenantId, candidate.name),
  async toInsert(write, tenantId, body) {
    return {
      id: uuid(),
      tenant_id: tenantId,
      name: body.name,
      display_name: body.display_name ?? null,
      description: body.description ?? null,
      created_at: write.now,
      updated_at: write.now,
    };
  },
  async toPatch(write, tenantId, row, body) {
    const { initial_member_ids: members, ...rest } = body;
    if (
      members !== undefined ||
      (rest.name !== undefined && rest.name !== row.name) ||
      (rest.display_name !== undefined && rest.display_name !== row.display_name)
    )
      await guardDirectoryGroup(write.trx, tenantId, row.id);
    if (members !== undefined) await replaceMembers(write, tenantId, row.id, members, "initial_member_ids");
    return { ...rest, updated_at: write.now };
  },
  async created(write, tenantId, row, body) {
    const members = await allKnown(write, "end_users", tenantId, body.initial_member_ids ?? [], "initial_member_ids", "end user");
    await addMembers(write.trx, tenantId, row.id, members);
  },
  dependents: async () => [],
  removing: (write, row) => guardDirectoryGroupRemoval(write.trx, row.tenant_id, row.id),
  notify: (write, row) => write.notify(row.tenant_id, "end_user"),
});

async function lockedGroup(write: Write, tenantId: string, groupId: string): Promise<void> {
  if ((await endUserGroupStore.find(write.trx, tenantId, groupId, "lock")) === undefined) throw notFound("end-user group");
}

function notifyChanged(
  write: Write,
  tenantId: string,
  action: string,
  resource: string,
  id: string,
  what: { before?: unknown; after?: unknown },
): void {
  write.log({ tenant_id: tenantId, action, resource, resource_id: id, ...what });
  write.notify(tenantId, "end_user");
}

export async function listMembers(directory: Directory, tenantId: string, groupId: string, page: Page): Promise<Paged<GroupMember>> {
  await endUserGroups.get(directory, tenantId, groupId);
  return groupMembersOf(directory.db, tenantId, groupId, page);
}

/** Refuses with `already_bound` if all of them are direct members already. */
export async function addGroupMembers(
  write: Write,
  tenantId: string,
  groupId: string,
  userIds: readonly string[],
): Promise<{ bound: string[]; already_bound: string[] }> {
  await lockedGroup(write, tenantId, groupId);
  await guardDirectoryGroup(write.trx, tenantId, groupId);
  const wanted = await allKnown(write, "end_users", tenantId, userIds, "end_user_ids", "end user");
  const bound = await addMembers(write.trx, tenantId, groupId, wanted);
  const already = wanted.filter((id) => !bound.includes(id));
  if (bound.length === 0)
    throw new Refused(refuse("already_bound", "All of them are members of the group already.", { extra: { already_bound: already } }));
  notifyChanged(write, tenantId, "add_members", RESOURCE, groupId, { after: { end_user_ids: bound } });
  return { bound, already_bound: already };
}

/** Refuses with `not_bound` if none of them is a direct member. */
export async function removeGroupMembers(
  write: Write,
  tenantId: string,
  groupId: string,
  userIds: readonly string[],
): Promise<{ unbound: string[]; not_bound: string[] }> {
  await lockedGroup(write, tenantId, groupId);
  const wanted = [...new Set(userIds)];
  const unbound = await removeMembers(write.trx, groupId, wanted);
  if (unbound.length === 0) throw new Refused(refuse("not_bound", "None of them is a direct member of the group."));
  notifyChanged(write, tenantId, "remove_members", RESOURCE, groupId, { before: { end_user_ids: unbound } });
  return { unbound, not_bound: wanted.filter((id) => !unbound.includes(id)) };
}

/** Makes exactly these the direct members. Memberships from an external directory are not changed. */
export async function setGroupMembers(
  write: Write,
  tenantId: string,
  groupId: string,
  userIds: readonly string[],
): Promise<{ added: string[]; removed: string[]; member_count: number }> {
  await lockedGroup(write, tenantId, groupId);
  await guardDirectoryGroup(write.trx, tenantId, groupId);
  const changed = await replaceMembers(write, tenantId, groupId, userIds, "end_user_ids");
  const row = (await endUserGroupStore.find(write.trx, tenantId, groupId)) as EndUserGroupRow;
  const answer = { ...changed, member_count: row.member_count };
  write.stay(row, row, answer);
  return answer;
}

/** Logged only if a member is added or removed. */
async function replaceMembers(
  write: Write,
  tenantId: string,
  groupId: string,
  userIds: readonly string[],
  field: string,
): Promise<{ added: string[]; removed: string[] }> {
  const wanted = await allKnown(write, "end_users", tenantId, userIds, field, "end user");
  const keep = new Set(wanted);
  const removed = await removeMembers(
    write.trx,
    groupId,
    (await directMembers(write.trx, groupId)).filter((id) => !keep.has(id)),
  );
  const added = await addMembers(write.trx, tenantId, groupId, wanted);
  if (added.length > 0 || removed.length > 0)
    notifyChanged(write, tenantId, "set_members", RESOURCE, groupId, { before: { removed }, after: { added } });
  return { added, removed };
}

type Side = "end-user-groups" | "resource-groups";

/** The side from which a binding is changed: that of the record in the path, with the body's field for the other side's IDs. */
interface BindingSide {
  readonly side: Side;
  readonly field: string;
}

const FROM_USERS: BindingSide = { side: RESOURCE, field: "resource_group_ids" };
const FROM_RESOURCES: BindingSide = { side: "resource-groups", field: "end_user_group_ids" };

const bindingOf = (from: BindingSide, id: string, other: string): Binding =>
  from.side === RESOURCE ? { endUserGroupId: id, resourceGroupId: other } : { resourceGroupId: id, endUserGroupId: other };
const otherOf = (from: BindingSide, binding: Binding): string =>
  from.side === RESOURCE ? binding.resourceGroupId : binding.endUserGroupId;

async function lockedSide(write: Write, from: BindingSide, tenantId: string, id: string): Promise<void> {
  await lockBindings(write.trx, tenantId);
  if (from.side === RESOURCE) return lockedGroup(write, tenantId, id);
  if ((await resourceGroupStore.find(write.trx, tenantId, id, "lock")) === undefined) throw notFound("resource group");
}

async function bind(
  write: Write,
  from: BindingSide,
  tenantId: string,
  id: string,
  others: readonly string[],
): Promise<{ bound: string[]; already_bound: string[] }> {
  await lockedSide(write, from, tenantId, id);
  const fromUsers = from.side === RESOURCE;
  const wanted = await allKnown(
    write,
    fromUsers ? "resource_groups" : "end_user_groups",
    tenantId,
    others,
    from.field,
    fromUsers ? "resource group" : "end-user group",
  );
  const bound = (
    await bindEndUserGroups(
      write.trx,
      tenantId,
      wanted.map((other) => bindingOf(from, id, other)),
    )
  ).map((binding) => otherOf(from, binding));
  const already = wanted.filter((other) => !bound.includes(other));
  if (bound.length === 0)
    throw new Refused(refuse("already_bound", "All of them are already bound to the group.", { extra: { already_bound: already } }));
  notifyChanged(write, tenantId, "bind", from.side, id, { after: { [from.field]: bound } });
  return { bound, already_bound: already };
}

async function unbind(
  write: Write,
  from: BindingSide,
  tenantId: string,
  id: string,
  others: readonly string[],
): Promise<{ unbound: string[]; not_bound: string[] }> {
  await lockedSide(write, from, tenantId, id);
  const wanted = [...new Set(others)];
  const unbound = (
    await unbindEndUserGroups(
      write.trx,
      tenantId,
      wanted.map((other) => bindingOf(from, id, other)),
    )
  ).map((binding) => otherOf(from, binding));
  if (unbound.length === 0) throw new Refused(refuse("not_bound", "None of them is bound to the group."));
  notifyChanged(write, tenantId, "unbind", from.side, id, { before: { [from.field]: unbound } });
  return { unbound, not_bound: wanted.filter((other) => !unbound.includes(other)) };
}

/** Lets the members of an end-user group use resource groups. */
export const bindToResourceGroups = (write: Write, tenantId: string, groupId: string, ids: readonly string[]) =>
  bind(write, FROM_USERS, tenantId, groupId, ids);
export const unbindFromResourceGroups = (write: Write, tenantId: string, groupId: string, ids: readonly string[]) =>
  unbind(write, FROM_USERS, tenantId, groupId, ids);
/** The same bindings, from the resource group's side. */
export const bindEndUserGroupsTo = (write: Write, tenantId: string, groupId: string, ids: readonly string[]) =>
  bind(write, FROM_RESOURCES, tenantId, groupId, ids);
export const unbindEndUserGroupsFrom = (write: Write, tenantId: string, groupId: string, ids: readonly string[]) =>
  unbind(write, FROM_RESOURCES, tenantId, groupId, ids);

export async function listEndUserGroupsOf(
  directory: Directory,
  tenantId: string,
  groupId: string,
  page: Page,
): Promise<Paged<EndUserGroup>> {
  if ((await resourceGroupStore.find(directory.db, tenantId, groupId)) === undefined) throw notFound("resource group");
  const { items, total } = await endUserGroupsOfResourceGroup(directory.db, tenantId, groupId, page);
  return { items: items.map(read), total };
}

export async function listResourceGroupsOf(
  directory: Directory,
  tenantId: string,
  groupId: string,
): Promise<{ id: string; name: string; display_name: string | null }[]> {
  await endUserGroups.get(directory, tenantId, groupId);
  return resourceGroupsOfEndUserGroup(directory.db, tenantId, groupId);
}
