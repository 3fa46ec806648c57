import {
  isComplex,
  MAX_VALUES,
  readMembers,
  readValue,
  scimObject,
  type Ignored,
  type ScimAttribute,
  type ScimObject,
  type ScimResourceType,
  type ScimValue,
} from "./attributes.ts";
import type { PatchOperation } from "./patch-operations.ts";
import type { ScimPath } from "./path.ts";
import { invalidValue, ScimError } from "./scim-error.ts";
import { describedValue, valueFits } from "./value-filter.ts";
import { noneOrPrimary, wholeMultiValue } from "./whole-multi-value.ts";

/** The resource after the operation; the original is not modified. */
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
  // Consecutive operations must not together exceed the limit for one.
  if (Array.isArray(changed) && changed.length > Math.max(MAX_VALUES, Array.isArray(held) ? held.length : 0))
    throw invalidValue(attribute.name, `has more than ${MAX_VALUES} values`);
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
    return noneOrPrimary(left);
  }
  if (!values.some(fits)) return noneOrPrimary([...values, ...made(attribute, { filter, sub }, value, ignored)]);
  let lastChanged = -1;
  const changed = values.map((one, at) => {
    if (!fits(one)) return one;
    lastChanged = at;
    if (sub !== undefined) return withSub(one, sub, value, ignored);
    const read = readValue({ ...attribute, multi: undefined } as unknown as ScimAttribute, value, ignored);
    return read === undefined ? undefined : Object.assign(scimObject(), isComplex(one) ? one : {}, read);
  });
  // A value just made primary stays primary.
  const last = changed[lastChanged];
  if (isComplex(last) && last.primary === true)
    return noneOrPrimary(
      changed.map((one, at) =>
        at !== lastChanged && isComplex(one) ? Object.assign(scimObject(), one, "primary" in one ? { primary: false } : {}) : one,
      ),
    );
  return noneOrPrimary(changed);
}

/** Large identity providers set values through a filter that matches nothing yet: the described value is created. */
function made(attribute: ScimAttribute, { filter, sub }: Pick<ScimPath, "filter" | "sub">, value: unknown, ignored: Ignored): ScimValue[] {
  const described = filter === undefined ? {} : describedValue(filter, attribute);
  if (described === undefined) throw new ScimError(400, "Nothing fits the filter of the path.", "noTarget");
  const given = sub === undefined ? (isComplex(value) ? value : { value }) : { [sub.name]: value };
  const read = readValue(attribute, [{ ...described, ...given }], ignored);
  return Array.isArray(read) ? read : [];
}
