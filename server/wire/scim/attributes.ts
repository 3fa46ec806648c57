import { isObject } from "../../kernel/json-value.ts";
import { invalidValue } from "./scim-error.ts";

export interface ScimAttribute {
  readonly name: string;
  readonly type: "string" | "boolean" | "complex" | "reference" | "dateTime";
  readonly description: string;
  readonly multi?: true;
  readonly required?: true;
  readonly readOnly?: true;
  readonly caseExact?: true;
  readonly unique?: true;
  readonly sub?: readonly ScimAttribute[];
}

export interface ScimSchema {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly attributes: readonly ScimAttribute[];
}

/** A resource type with its core schema and extensions. */
export interface ScimResourceType {
  readonly name: "User" | "Group";
  readonly endpoint: "/Users" | "/Groups";
  readonly description: string;
  readonly core: ScimSchema;
  readonly extensions: readonly ScimSchema[];
}

export type ScimValue = string | boolean | ScimObject | ScimValue[];
/** Created without a prototype, so that any attribute name is safe as a key. */
export interface ScimObject {
  [name: string]: ScimValue;
}

const MAX_TEXT = 4_000;
export const MAX_VALUES = 200;

export const scimObject = (): ScimObject => Object.create(null) as ScimObject;

export function isComplex(value: unknown): value is Record<string, unknown> {
  return isObject(value);
}

/** Attribute names are case-insensitive (RFC 7643, section 2.1). */
export function attributeNamed(attributes: readonly ScimAttribute[], name: string): ScimAttribute | undefined {
  const wanted = name.toLowerCase();
  return attributes.find((one) => one.name.toLowerCase() === wanted);
}

/** Called with the name of each unknown attribute, for the log. */
export type Ignored = (name: string) => void;

/** The value in the attribute's type; undefined if it removes the attribute. Throws `ScimError` for a value of another type. */
export function readValue(attribute: ScimAttribute, value: unknown, ignored: Ignored, path = attribute.name): ScimValue | undefined {
  if (value === null || value === undefined) return undefined;
  // Entra ID sends the single-valued manager as an array.
  if (attribute.multi !== true) return readOne(attribute, Array.isArray(value) && value.length === 1 ? value[0] : value, ignored, path);
  const values = Array.isArray(value) ? value : [value];
  if (values.length > MAX_VALUES) throw invalidValue(path, `has more than ${MAX_VALUES} values`);
  const read = values.map((one) => readOne(attribute, one, ignored, path)).filter((one) => one !== undefined);
  return read.length === 0 ? undefined : onePrimary(read);
}

function readOne(attribute: ScimAttribute, value: unknown, ignored: Ignored, path: string): ScimValue | undefined {
  if (value === null) return undefined;
  switch (attribute.type) {
    case "boolean":
      return readBoolean(value, path);
    case "complex":
      return readComplex(attribute, value, ignored, path);
    default:
      if (typeof value !== "string") throw invalidValue(path, "must be a string");
      if (value.length > MAX_TEXT) throw invalidValue(path, `is longer than ${MAX_TEXT} characters`);
      if (value.includes("\0") || !value.isWellFormed()) throw invalidValue(path, "has characters that cannot be stored");
      return value;
  }
}

/** Entra ID and others send booleans as "True" and "False". */
function readBoolean(value: unknown, path: string): boolean {
  if (typeof value === "boolean") return value;
  const text = typeof value === "string" ? value.toLowerCase() : "";
  if (text !== "true" && text !== "false") throw invalidValue(path, "must be true or false");
  return text === "true";
}

function readComplex(attribute: ScimAttribute, value: unknown, ignored: Ignored, path: string): ScimValue | undefined {
  // Some clients send `manager` as a bare ID.
  const given = typeof value === "string" && attributeNamed(attribute.sub ?? [], "value") !== undefined ? { value } : value;
  if (!isComplex(given)) throw invalidValue(path, "must be an object");
  return readMembers(attribute.sub ?? [], given, ignored, path);
}

/** The known members under the schema's names; undefined if none remain. */
export function readMembers(
  attributes: readonly ScimAttribute[],
  given: Record<string, unknown>,
  ignored: Ignored,
  path = "",
): ScimObject | undefined {
  const read = scimObject();
  for (const [name, value] of Object.entries(given)) {
    const known = attributeNamed(attributes, name);
    const full = path === "" ? name : `${path}.${name}`;
    if (known === undefined) {
      ignored(full);
      continue;
    }
    if (known.readOnly === true) continue;
    if (known.name in read) throw invalidValue(full, "is there twice, in different case");
    const member = readValue(known, value, ignored, full);
    if (member !== undefined) read[known.name] = member;
  }
  return Object.keys(read).length === 0 ? undefined : read;
}

/** Keeps at most one primary value: the last one marked as such. */
export function onePrimary(values: ScimValue[]): ScimValue[] {
  const last = values.findLastIndex((value) => isComplex(value) && value.primary === true);
  return values.map((value, at) => {
    if (last < 0 || at === last || !isComplex(value) || value.primary !== true) return value;
    return Object.assign(scimObject(), value, { primary: false });
  });
}
