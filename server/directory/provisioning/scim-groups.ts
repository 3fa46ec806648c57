import { refuse, Refused } from "../../kernel/errors.ts";
import { isUuid, uuid } from "../../kernel/ids.ts";
import { endUserGroupIdByName, endUserGroupStore } from "../../store/people/end-user-groups.ts";
import type { Page, Paged } from "../../store/records/paging.ts";
import type { ScimCondition } from "../../store/provisioning/scim-conditions.ts";
import {
  addScimMembers,
  countScimMembers,
  removeScimMembers,
  scimMemberIds,
  scimMembersAfter,
  scimMembersOf,
  type ScimMember,
} from "../../store/provisioning/scim-group-members.ts";
import {
  insertScimGroup,
  peopleOfSource,
  scimGroupByExternalId,
  scimGroupById,
  scimGroupPage,
  updateScimGroup,
  type ScimGroupRow,
} from "../../store/provisioning/scim-groups.ts";
import { notFound } from "../writes/records.ts";
import type { Directory, Write } from "../writes/write.ts";
import { signOutLeavers } from "./group-leavers.ts";
import { notifyPeople } from "./notify-people.ts";
import { noteDeed, type ProvisioningDeed } from "./provisioning-log.ts";
import type { ScimCaller } from "./scim-tokens.ts";
import type { ScimRequest } from "./scim-users.ts";

const RESOURCE = "end-user-groups";
/** Removing more members than this in one request requires a permission of the token, unless more than a tenth of the members stay. */
const GUARDED_MEMBERS = 50;
const STAYING = 0.1;
/**
 * A page of groups ends before it exceeds this many members, and the members of a larger single group are streamed:
 * building them all at once would block calls, and hold memory until a slow client has read them.
 */
const LISTED_MEMBERS = 10_000;
const READ_AT_ONCE = 2_000;

export interface ScimGroupMember {
  readonly id: string;
  readonly display: string;
}

export interface StoredGroup {
  readonly id: string;
  readonly version: number;
  readonly displayName: string;
  readonly externalId: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** `many`: too many to hold, to be read with `scimGroupMembers`. */
  readonly members: readonly ScimGroupMember[] | "many";
}

/** `all` removes every member. */
export type MemberChange = { readonly op: "add" | "remove" | "set"; readonly ids: readonly string[] } | { readonly op: "all" };

export interface GroupChange {
  readonly displayName?: string;
  /** Null removes it. */
  readonly externalId?: string | null;
  /** Applied in this order. */
  readonly members: readonly MemberChange[];
}

const memberOf = ({ end_user_id: id, display }: ScimMember): ScimGroupMember => ({ id, display });

const stored = (row: ScimGroupRow, members: readonly ScimMember[] | "many"): StoredGroup => ({
  id: row.end_user_group_id,
  version: row.version,
  displayName: row.display_name,
  externalId: row.external_id,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  members: members === "many" ? members : members.map(memberOf),
});

export async function listScimGroups(
  directory: Directory,
  caller: ScimCaller,
  condition: ScimCondition | undefined,
  page: Page,
  withMembers: boolean,
): Promise<Paged<StoredGroup>> {
  const { items, total } = await scimGroupPage(directory.db, caller.tenantId, caller.source, condition, page);
  if (!withMembers) return { items: items.map((row) => stored(row, [])), total };
  const counts = await countScimMembers(directory.db, caller.tenantId, caller.source, idsOf(items));
  return { items: await withTheirMembers(directory.db, caller, items.slice(0, groupsThatFit(items, counts)), counts), total };
}

async function withTheirMembers(
  db: Directory["db"] | Write["trx"],
  { tenantId, source }: ScimCaller,
  rows: readonly ScimGroupRow[],
  counts: ReadonlyMap<string, number>,
): Promise<StoredGroup[]> {
  const isLong = (row: ScimGroupRow) => (counts.get(row.end_user_group_id) ?? 0) > LISTED_MEMBERS;
  const members = await scimMembersOf(db, tenantId, source, idsOf(rows.filter((row) => !isLong(row))));
  const byGroup = Map.groupBy(members, (one) => one.group_id);
  return rows.map((row) => stored(row, isLong(row) ? "many" : (byGroup.get(row.end_user_group_id) ?? [])));
}

/** A group's members in batches. Concurrent changes may or may not be included; nobody is listed twice. */
export async function* scimGroupMembers(
  { db }: Pick<Directory, "db">,
  { tenantId, source }: ScimCaller,
  groupId: string,
): AsyncGenerator<readonly ScimGroupMember[]> {
  for (let after: string | null = null; ;) {
    const read: ScimMember[] = await scimMembersAfter(db, { tenantId, source, groupId, after }, READ_AT_ONCE);
    if (read.length > 0) yield read.map(memberOf);
    if (read.length < READ_AT_ONCE) return;
    after = read.at(-1)?.end_user_id ?? null;
  }
}

const idsOf = (rows: readonly ScimGroupRow[]) => rows.map((row) => row.end_user_group_id);

/** How many groups fit into the limit of listed members; at least one, or a client would request the same page forever. */
function groupsThatFit(rows: readonly ScimGroupRow[], counts: ReadonlyMap<string, number>): number {
  let shown = 0;
  const over = rows.findIndex((row, index) => {
    shown += counts.get(row.end_user_group_id) ?? 0;
    return index > 0 && shown > LISTED_MEMBERS;
  });
  return over === -1 ? rows.length : over;
}

export async function getScimGroup(
  { db }: { readonly db: Directory["db"] | Write["trx"] },
  caller: ScimCaller,
  id: string,
  withMembers: boolean,
): Promise<StoredGroup> {
  const row = await scimGroupById(db, caller.tenantId, caller.source, id);
  if (row === undefined) throw notFound("group");
  if (!withMembers) return stored(row, []);
  const [group] = await withTheirMembers(db, caller, [row], await countScimMembers(db, caller.tenantId, caller.source, [id]));
  return group as StoredGroup;
}

/** The names that an identity provider may use for the group. */
const namesOf = ({ display_name: name, external_id: externalId }: Pick<ScimGroupRow, "display_name" | "external_id">) =>
  externalId === null ? [name] : [name, externalId];

const taken = (what: string) => new Refused(refuse("conflict", `There is already a group with this ${what}.`));

async function refuseDuplicates(
  write: Write,
  caller: ScimCaller,
  id: string,
  displayName: string,
  externalId: string | null,
): Promise<void> {
  const named = await endUserGroupIdByName(write.trx, caller.tenantId, displayName);
  if (named !== undefined && named !== id) throw taken("displayName");
  if (externalId === null) return;
  const known = await scimGroupByExternalId(write.trx, caller.tenantId, caller.source, externalId);
  if (known !== undefined && known.end_user_group_id !== id) throw taken("externalId");
}

export async function createScimGroup(
  write: Write,
  caller: ScimCaller,
  group: { readonly displayName: string; readonly externalId: string | null; readonly memberIds: readonly string[] },
  request: ScimRequest,
): Promise<StoredGroup> {
  const id = uuid();
  await refuseDuplicates(write, caller, id, group.displayName, group.externalId);
  const times = { created_at: write.now, updated_at: write.now };
  await endUserGroupStore.insert(write.trx, {
    id,
    tenant_id: caller.tenantId,
    name: group.displayName,
    display_name: group.displayName,
    description: null,
    ...times,
  });
  await insertScimGroup(write.trx, {
    end_user_group_id: id,
    tenant_id: caller.tenantId,
    source: caller.source,
    external_id: group.externalId,
    display_name: group.displayName,
    ...times,
  });
  const moved = await moveMembers(write, caller, id, [{ op: "add", ids: group.memberIds }]);
  await reportChange(write, caller, id, { ...request, status: 201, outcome: "created", changed: ["displayName"], moved });
  return getScimGroup({ db: write.trx }, caller, id, true);
}

export async function changeScimGroup(
  write: Write,
  caller: ScimCaller,
  id: string,
  change: GroupChange,
  request: ScimRequest,
): Promise<void> {
  const row = await scimGroupById(write.trx, caller.tenantId, caller.source, id, "lock");
  if (row === undefined) throw notFound("group");
  if (!request.expects(row.version)) throw new Refused(refuse("precondition_failed"));
  const displayName = change.displayName ?? row.display_name;
  const externalId = change.externalId === undefined ? row.external_id : change.externalId;
  const changed = [...(displayName === row.display_name ? [] : ["displayName"]), ...(externalId === row.external_id ? [] : ["externalId"])];
  if (changed.length > 0) await refuseDuplicates(write, caller, id, displayName, externalId);
  const moved = await moveMembers(write, caller, id, change.members);
  const [before, after] = [namesOf(row), namesOf({ display_name: displayName, external_id: externalId })];
  await signOutLeavers(write, caller, { groupId: id, names: before }, [...moved.removed]);
  // The members lose what was granted under the former name.
  const lost = before.filter((name) => !after.includes(name));
  if (lost.length > 0) await signOutLeavers(write, caller, { groupId: id, names: lost }, await scimMemberIds(write.trx, caller.source, id));
  if (changed.length === 0 && moved.added.size === 0 && moved.removed.size === 0) write.stay({}, {}, undefined);
  if (changed.includes("displayName"))
    await endUserGroupStore.update(write.trx, id, { name: displayName, display_name: displayName, updated_at: write.now });
  await updateScimGroup(write.trx, id, { display_name: displayName, external_id: externalId, updated_at: write.now });
  await reportChange(write, caller, id, { ...request, status: request.method === "PUT" ? 200 : 204, outcome: "changed", changed, moved });
}

export async function deleteScimGroup(write: Write, caller: ScimCaller, id: string, request: ScimRequest): Promise<void> {
  const row = await scimGroupById(write.trx, caller.tenantId, caller.source, id, "lock");
  if (row === undefined) throw notFound("group");
  if (!request.expects(row.version)) throw new Refused(refuse("precondition_failed"));
  await signOutLeavers(write, caller, { groupId: id, names: namesOf(row) }, await scimMemberIds(write.trx, caller.source, id));
  await endUserGroupStore.remove(write.trx, id);
  write.notify(caller.tenantId, "end_user");
  await reportChange(write, caller, id, { ...request, status: 204, outcome: "deleted", changed: [], moved: NOBODY });
}

interface Moved {
  readonly added: ReadonlySet<string>;
  readonly removed: ReadonlySet<string>;
  /** How many IDs belong to nobody in the directory. */
  readonly unknown: number;
}

const NOBODY: Moved = { added: new Set(), removed: new Set(), unknown: 0 };

async function moveMembers(write: Write, caller: ScimCaller, groupId: string, changes: readonly MemberChange[]): Promise<Moved> {
  const added = new Set<string>();
  const removed = new Set<string>();
  let unknown = 0;
  const add = async (ids: readonly string[]) => {
    const wanted = [...new Set(ids.map((id) => id.toLowerCase()))];
    const known = await peopleOfSource(write.trx, caller.tenantId, caller.source, wanted.filter(isUuid));
    unknown += wanted.length - known.size;
    for (const id of await addScimMembers(write.trx, caller.tenantId, caller.source, groupId, [...known]))
      if (!removed.delete(id)) added.add(id);
  };
  const remove = async (ids: readonly string[]) => {
    const wanted = ids.map((id) => id.toLowerCase()).filter(isUuid);
    for (const id of await removeScimMembers(write.trx, caller.source, groupId, wanted)) if (!added.delete(id)) removed.add(id);
  };
  for (const change of changes) {
    if (change.op === "add") await add(change.ids);
    else if (change.op === "remove") await remove(change.ids);
    else {
      const wanted = new Set(change.op === "set" ? change.ids.map((id) => id.toLowerCase()) : []);
      const members = await scimMemberIds(write.trx, caller.source, groupId);
      const going = members.filter((id) => !wanted.has(id));
      const staying = members.length - going.length;
      if (going.length > GUARDED_MEMBERS && staying <= members.length * STAYING && !caller.removeAllMembers)
        throw new Refused(refuse("members_guarded"));
      await remove(going);
      if (change.op === "set") await add(change.ids);
    }
  }
  notifyPeople(write, caller.tenantId, [...added, ...removed]);
  return { added, removed, unknown };
}

async function reportChange(
  write: Write,
  caller: ScimCaller,
  id: string,
  deed: ScimRequest & Pick<ProvisioningDeed, "status" | "outcome"> & { readonly changed: readonly string[]; readonly moved: Moved },
): Promise<void> {
  const { added, removed, unknown } = deed.moved;
  const members = { added: added.size, removed: removed.size, ...(unknown === 0 ? {} : { unknown }) };
  write.log({
    tenant_id: caller.tenantId,
    action: `provision_${deed.outcome}`,
    resource: RESOURCE,
    resource_id: id,
    after: { directory: caller.source, changed: deed.changed, members },
  });
  await noteDeed(write, caller, {
    method: deed.method,
    resourceType: "Group",
    resourceId: id,
    status: deed.status,
    outcome: deed.outcome,
    detail: { changed: deed.changed, members, ...(deed.ignored.length === 0 ? {} : { ignored: deed.ignored }) },
  });
}
