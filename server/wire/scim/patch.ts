import { isDeepStrictEqual } from "node:util";
import {
  isComplex,
  onePrimary,
  readMembers,
  readValue,
  scimObject,
  type Ignored,
  type ScimAttribute,
  type ScimObject,
  type ScimResourceType,
  type ScimValue,
} from "./attributes.ts";
import { parsePath, type ScimPath } from "./path.ts";
import { ScimError } from "./scim-error.ts";
import { describedValue, valueFits } from "./value-filter.ts";

export interface PatchOperation {
  readonly op: "add" | "replace" | "remove";
  readonly path: ScimPath;
  readonly value: unknown;
}

const MAX_OPERATIONS = 1_000;

/** The operations of a PATCH body, one for each path: a value without one names its attributes, also with dots. */
export function readPatch(type: ScimResourceType, body: Record<string, unknown>, ignored: Ignored): PatchOperation[] {
  const given = memberOf(body, "Operations");
  if (!Array.isArray(given) || given.length === 0)
    throw new ScimError(400, "Operations must be an array of at least one operation.", "invalidSyntax");
  if (given.length > MAX_OPERATIONS) throw new ScimError(413, `A PATCH has at most ${MAX_OPERATIONS} operations.`, "tooMany");
  return given.flatMap((one: unknown) => {
    if (!isComplex(one)) throw new ScimError(400, "An operation must be an object.", "invalidSyntax");
    const op = String(memberOf(one, "op")).toLowerCase();
    if (op !== "add" && op !== "replace" && op !== "remove")
      throw new ScimError(400, "op must be add, replace or remove.", "invalidSyntax");
    const path = memberOf(one, "path");
    const value = memberOf(one, "value");
    if (path === undefined || path === null || path === "") return withoutPath(type, op, value, ignored);
    if (typeof path !== "string") throw new ScimError(400, "path must be a string.", "invalidPath");
    return withPath(type, op, path, value, ignored);
  });
}

function memberOf(object: Record<string, unknown>, name: string): unknown {
  const key = Object.keys(object).find((one) => one.toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : object[key];
}

function withoutPath(type: ScimResourceType, op: PatchOperation["op"], value: unknown, ignored: Ignored): PatchOperation[] {
  if (op === "remove") throw new ScimError(400, "A remove needs a path.", "noTarget");
  if (!isComplex(value)) throw new ScimError(400, "An operation without a path needs an object as its value.", "invalidValue");
  return Object.entries(value)
    .filter(([name]) => !["id", "schemas", "meta"].includes(name.toLowerCase()))
    .flatMap(([name, one]) => withPath(type, op, name, one, ignored));
}

function withPath(type: ScimResourceType, op: PatchOperation["op"], text: string, value: unknown, ignored: Ignored): PatchOperation[] {
  const path = parsePath(type, text);
  if (path === null) {
    ignored(text.slice(0, 200));
    return [];
  }
  if (path.attribute?.readOnly === true || path.sub?.readOnly === true) {
    ignored(text.slice(0, 200));
    return [];
  }
  return [{ op, path, value }];
}

/** The resource after the operation; the one given stays as it is. */
export function patched(type: ScimResourceType, resource: ScimObject, { op, path, value }: PatchOperation, ignored: Ignored): ScimObject {
  const { extension, attribute } = path;
  if (extension === undefined && attribute !== undefined) return withAttribute(resource, op, attribute, path, value, ignored);
  const schema = type.extensions.find(({ id }) => id === extension);
  const next = Object.assign(scimObject(), resource);
  if (schema === undefined) return next;
  const held = next[schema.id];
  const within = isComplex(held) ? (held as ScimObject) : scimObject();
  const changed =
    attribute === undefined
      ? wholeExtension(schema.attributes, op, within, value, ignored)
      : withAttribute(within, op, attribute, path, value, ignored);
  if (Object.keys(changed).length === 0) delete next[schema.id];
  else next[schema.id] = changed;
  return next;
}

function wholeExtension(
  attributes: readonly ScimAttribute[],
  op: PatchOperation["op"],
  held: ScimObject,
  value: unknown,
  ignored: Ignored,
): ScimObject {
  if (op === "remove") return scimObject();
  if (!isComplex(value)) throw new ScimError(400, "The value of an extension must be an object.", "invalidValue");
  const read = readMembers(attributes, value, ignored) ?? scimObject();
  return Object.assign(scimObject(), held, read);
}

function withAttribute(
  resource: ScimObject,
  op: PatchOperation["op"],
  attribute: ScimAttribute,
  path: ScimPath,
  value: unknown,
  ignored: Ignored,
): ScimObject {
  const next = Object.assign(scimObject(), resource);
  const held = next[attribute.name];
  const changed =
    attribute.multi === true
      ? multiValue(attribute, op, path, held, value, ignored)
      : singleValue(attribute, op, path, held, value, ignored);
  if (changed === undefined) {
    if (attribute.required === true) throw new ScimError(400, `${attribute.name} cannot be removed.`, "mutability");
    delete next[attribute.name];
  } else next[attribute.name] = changed;
  return next;
}

function singleValue(
  attribute: ScimAttribute,
  op: PatchOperation["op"],
  { sub }: ScimPath,
  held: ScimValue | undefined,
  value: unknown,
  ignored: Ignored,
): ScimValue | undefined {
  if (sub === undefined) {
    if (op === "remove") return undefined;
    const read = readValue(attribute, value, ignored);
    return attribute.type === "complex" && isComplex(held) && isComplex(read) ? Object.assign(scimObject(), held, read) : read;
  }
  return withSub(held, sub, op === "remove" ? undefined : value, ignored);
}

function withSub(held: ScimValue | undefined, sub: ScimAttribute, value: unknown, ignored: Ignored): ScimValue | undefined {
  const next = Object.assign(scimObject(), isComplex(held) ? held : {}) as ScimObject;
  const read = readValue(sub, value, ignored);
  if (read === undefined) delete next[sub.name];
  else next[sub.name] = read;
  return Object.keys(next).length === 0 ? undefined : next;
}

function multiValue(
  attribute: ScimAttribute,
  op: PatchOperation["op"],
  { filter, sub }: ScimPath,
  held: ScimValue | undefined,
  value: unknown,
  ignored: Ignored,
): ScimValue | undefined {
  const values = Array.isArray(held) ? held : [];
  if (filter === undefined && sub === undefined) return wholeMultiValue(attribute, op, values, value, ignored);
  const fits = (one: ScimValue) => filter === undefined || valueFits(filter, attribute, one);
  if (op === "remove") {
    const left =
      sub === undefined
        ? values.filter((one) => !fits(one))
        : values.map((one) => (fits(one) ? withSub(one, sub, undefined, ignored) : one));
    return notEmpty(left);
  }
  if (!values.some(fits)) return notEmpty([...values, ...made(attribute, { filter, sub }, value, ignored)]);
  let lastChanged = -1;
  const changed = values.map((one, at) => {
    if (!fits(one)) return one;
    lastChanged = at;
    if (sub !== undefined) return withSub(one, sub, value, ignored);
    const read = readValue({ ...attribute, multi: undefined } as unknown as ScimAttribute, value, ignored);
    return read === undefined ? undefined : Object.assign(scimObject(), isComplex(one) ? one : {}, read);
  });
  // Whoever was just made the primary one stays it.
  const last = changed[lastChanged];
  if (isComplex(last) && last.primary === true)
    return notEmpty(
      changed.map((one, at) =>
        at !== lastChanged && isComplex(one) ? Object.assign(scimObject(), one, "primary" in one ? { primary: false } : {}) : one,
      ),
    );
  return notEmpty(changed);
}

/** The large directories set values by a filter that nothing fits yet: what it describes is made. */
function made(attribute: ScimAttribute, { filter, sub }: Pick<ScimPath, "filter" | "sub">, value: unknown, ignored: Ignored): ScimValue[] {
  const described = filter === undefined ? {} : describedValue(filter, attribute);
  if (described === undefined) throw new ScimError(400, "Nothing fits the filter of the path.", "noTarget");
  const given = sub === undefined ? (isComplex(value) ? value : { value }) : { [sub.name]: value };
  const read = readValue(attribute, [{ ...described, ...given }], ignored);
  return Array.isArray(read) ? read : [];
}

function wholeMultiValue(
  attribute: ScimAttribute,
  op: PatchOperation["op"],
  values: ScimValue[],
  value: unknown,
  ignored: Ignored,
): ScimValue | undefined {
  if (op === "remove" && (value === undefined || value === null)) return undefined;
  const read = readValue(attribute, value, ignored);
  const given = Array.isArray(read) ? read : [];
  if (op === "replace") return notEmpty(given);
  const same = (one: ScimValue, other: ScimValue) => isDeepStrictEqual(keyOf(one), keyOf(other));
  if (op === "remove") return notEmpty(values.filter((one) => !given.some((other) => same(one, other))));
  const added = given.filter((one) => !values.some((other) => same(one, other)));
  return notEmpty([...values, ...added]);
}

/** Two values are one when they say the same of what they are. */
function keyOf(value: ScimValue): unknown {
  if (!isComplex(value)) return value;
  return value.value === undefined ? { ...value } : [value.value, typeof value.type === "string" ? value.type.toLowerCase() : undefined];
}

function notEmpty(values: (ScimValue | undefined)[]): ScimValue[] | undefined {
  const left = values.filter((one) => one !== undefined);
  return left.length === 0 ? undefined : onePrimary(left);
}
