import type { GroupChange, ScimGroupMember, MemberChange, StoredGroup } from "../../directory/provisioning/scim-groups.ts";
import { isComplex, readMembers, readValue, type Ignored } from "../../wire/scim/attributes.ts";
import type { ScimFilter } from "../../wire/scim/filter.ts";
import type { PatchOperation } from "../../wire/scim/patch-operations.ts";
import { GROUPS, GROUP_SCHEMA } from "../../wire/scim/resource-types.ts";
import { invalidValue, ScimError } from "../../wire/scim/scim-error.ts";
import { versionTag } from "./people.ts";

const MAX_NAME = 200;
const MAX_MEMBERS = 100_000;
const COMMON = new Set(["schemas", "id", "meta", "members"]);

export interface DescribedGroup {
  readonly displayName: string;
  readonly externalId: string | null;
  /** Undefined if the body does not mention members. */
  readonly memberIds: readonly string[] | undefined;
}

export function groupOf(body: Record<string, unknown>, ignored: Ignored): DescribedGroup {
  const core = Object.fromEntries(Object.entries(body).filter(([name]) => !COMMON.has(name.toLowerCase()) && !name.startsWith("urn:")));
  const read = readMembers(GROUPS.core.attributes, core, ignored) ?? {};
  const members = Object.entries(body).find(([name]) => name.toLowerCase() === "members");
  return {
    displayName: nameOf(read.displayName),
    externalId: typeof read.externalId === "string" && read.externalId !== "" ? read.externalId : null,
    memberIds: members === undefined ? undefined : memberIdsOf(members[1]),
  };
}

function nameOf(value: unknown): string {
  const name = typeof value === "string" ? value.normalize("NFC").trim() : "";
  if (name === "") throw invalidValue("displayName", "is required");
  if (name.length > MAX_NAME) throw invalidValue("displayName", `is longer than ${MAX_NAME} characters`);
  return name;
}

function memberIdsOf(value: unknown): string[] {
  if (value === null || value === undefined) return [];
  const given = Array.isArray(value) ? value : [value];
  if (given.length > MAX_MEMBERS) throw new ScimError(413, `A request names at most ${MAX_MEMBERS} members.`, "tooMany");
  return given.map((one: unknown) => {
    const id = isComplex(one) ? Object.entries(one).find(([name]) => name.toLowerCase() === "value")?.[1] : one;
    if (typeof id !== "string" || id === "") throw invalidValue("members", "must each have a value, the id of a user");
    return id;
  });
}

/** The changes a PATCH makes to a group, in order. */
export function groupChange(operations: readonly PatchOperation[], ignored: Ignored): GroupChange {
  const change: { displayName?: string; externalId?: string | null; members: MemberChange[] } = { members: [] };
  for (const { op, path, value } of operations) {
    const { attribute } = path;
    if (attribute?.name === "members") change.members.push(memberChange(op, path.filter, value));
    else if (attribute?.name === "displayName") {
      if (op === "remove") throw new ScimError(400, "displayName cannot be removed.", "mutability");
      change.displayName = nameOf(readValue(attribute, value, ignored));
    } else if (attribute?.name === "externalId") {
      const read = op === "remove" ? undefined : readValue(attribute, value, ignored);
      change.externalId = typeof read === "string" && read !== "" ? read : null;
    }
  }
  return change;
}

/** Removing members with a value or filter removes those; with neither, all. */
function memberChange(op: PatchOperation["op"], filter: ScimFilter | undefined, value: unknown): MemberChange {
  if (filter !== undefined) {
    const ids = idsOfFilter(filter);
    return { op: op === "remove" ? "remove" : "add", ids };
  }
  if (op === "add") return { op: "add", ids: memberIdsOf(value) };
  if (op === "replace") return { op: "set", ids: memberIdsOf(value) };
  return value === undefined || value === null ? { op: "all" } : { op: "remove", ids: memberIdsOf(value) };
}

function idsOfFilter(filter: ScimFilter): string[] {
  if (filter.op === "or") return filter.filters.flatMap(idsOfFilter);
  if (filter.op === "eq" && filter.attrPath.toLowerCase() === "value" && typeof filter.compValue === "string") return [filter.compValue];
  throw new ScimError(400, 'Members are named by members[value eq "..."].', "invalidFilter");
}

export const memberResources = (members: readonly ScimGroupMember[], base: string) =>
  members.map(({ id, display }) => ({ value: id, $ref: `${base}/Users/${id}`, type: "User", display }));

/** With `withMembers` false, leaves out the members, which may be many. */
export function groupResource(group: StoredGroup, base: string, withMembers: boolean): Record<string, unknown> {
  return {
    schemas: [GROUP_SCHEMA],
    id: group.id,
    ...(group.externalId === null ? {} : { externalId: group.externalId }),
    displayName: group.displayName,
    ...(withMembers && group.members !== "many" ? { members: memberResources(group.members, base) } : {}),
    meta: {
      resourceType: "Group",
      created: group.createdAt.toISOString(),
      lastModified: group.updatedAt.toISOString(),
      location: `${base}/Groups/${group.id}`,
      version: versionTag(group.version),
    },
  };
}
