import type { ScimPerson, StoredPerson } from "../../directory/provisioning/scim-users.ts";
import { hidesMarks, withoutSteering } from "@gatehouse/contracts/conventions";
import { isComplex, readMembers, scimObject, type Ignored, type ScimObject } from "../../wire/scim/attributes.ts";
import type { PatchOperation } from "../../wire/scim/patch-operations.ts";
import { patched } from "../../wire/scim/patch.ts";
import { ENTERPRISE_SCHEMA, USERS, USER_SCHEMA } from "../../wire/scim/resource-types.ts";
import { invalidValue } from "../../wire/scim/scim-error.ts";

const MAX_NAME = 200;
const COMMON = new Set(["schemas", "id", "meta"]);

/** The person described by a POST or PUT; `before` is the one a PUT replaces. */
export function personOf(body: Record<string, unknown>, ignored: Ignored, before?: StoredPerson): ScimPerson {
  const attributes = scimObject();
  const core: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(body)) {
    const extension = USERS.extensions.find(({ id }) => id.toLowerCase() === name.toLowerCase());
    if (extension !== undefined) {
      if (value === null) continue;
      if (!isComplex(value)) throw invalidValue(extension.id, "must be an object");
      const read = readMembers(extension.attributes, value, ignored, extension.id);
      if (read !== undefined) attributes[extension.id] = read;
    } else if (!COMMON.has(name.toLowerCase())) core[name] = value;
  }
  return personWith(Object.assign(attributes, readMembers(USERS.core.attributes, core, ignored)), before?.active ?? true);
}

/** The person after a PATCH, which is applied completely or not at all. */
export function patchedPerson(before: StoredPerson, operations: readonly PatchOperation[], ignored: Ignored): ScimPerson {
  let resource = Object.assign(scimObject(), before.attributes, { active: before.active }) as ScimObject;
  for (const operation of operations) resource = patched(USERS, resource, operation, ignored);
  return personWith(resource, before.active);
}

/** `isActive`: the state if the attributes do not say. A deactivated person must not be reactivated by an omission. */
function personWith(attributes: ScimObject, isActive: boolean): ScimPerson {
  const userName = typeof attributes.userName === "string" ? attributes.userName.normalize("NFC").trim() : "";
  if (userName === "") throw invalidValue("userName", "is required");
  if (userName.length > MAX_NAME) throw invalidValue("userName", `is longer than ${MAX_NAME} characters`);
  if (hidesMarks(userName)) throw invalidValue("userName", "has control characters, or marks that cannot be seen");
  const active = typeof attributes.active === "boolean" ? attributes.active : isActive;
  return {
    userName,
    externalId: typeof attributes.externalId === "string" && attributes.externalId !== "" ? attributes.externalId : null,
    displayName: displayNameOf(attributes),
    email: emailOf(attributes),
    active,
    attributes: { ...attributes, userName, active },
  };
}

function displayNameOf({ displayName, name }: ScimObject): string | null {
  const parts = isComplex(name) ? name : {};
  const composed = [parts.givenName, parts.familyName].filter((part) => typeof part === "string" && part !== "").join(" ");
  const displayNames = [displayName, parts.formatted, composed].map((one) => (typeof one === "string" ? withoutSteering(one) : ""));
  return displayNames.find((one) => one !== "")?.slice(0, MAX_NAME) ?? null;
}

function emailOf({ emails }: ScimObject): string | null {
  const all = (Array.isArray(emails) ? emails : []).filter((one): one is ScimObject => isComplex(one));
  const value = (all.find((one) => one.primary === true) ?? all.find((one) => one.type === "work") ?? all[0])?.value;
  return typeof value === "string" && value !== "" ? value : null;
}

/** The person as a SCIM resource. */
export function personResource(person: StoredPerson, base: string): Record<string, unknown> {
  const { attributes } = person;
  return {
    schemas: [USER_SCHEMA, ...(ENTERPRISE_SCHEMA in attributes ? [ENTERPRISE_SCHEMA] : [])],
    id: person.id,
    ...attributes,
    active: person.active,
    ...(person.groups.length === 0
      ? {}
      : { groups: person.groups.map(({ id, displayName }) => ({ value: id, $ref: `${base}/Groups/${id}`, display: displayName })) }),
    meta: {
      resourceType: "User",
      created: person.createdAt.toISOString(),
      lastModified: person.updatedAt.toISOString(),
      location: `${base}/Users/${person.id}`,
      version: versionTag(person.version),
    },
  };
}

export const versionTag = (version: number): string => `W/"${version}"`;
