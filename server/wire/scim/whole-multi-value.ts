import { type Ignored, isComplex, onePrimary, readValue, type ScimAttribute, type ScimValue } from "./attributes.ts";
import type { PatchOperation } from "./patch-operations.ts";

/** The values of an attribute after an operation on the attribute as a whole. */
export function wholeMultiValue(
  attribute: ScimAttribute,
  op: PatchOperation["op"],
  values: ScimValue[],
  value: unknown,
  ignored: Ignored,
): ScimValue | undefined {
  if (op === "remove" && (value === undefined || value === null)) return undefined;
  const read = readValue(attribute, value, ignored);
  const given = Array.isArray(read) ? read : [];
  if (op === "replace") return noneOrPrimary(given);
  const known = new Set((op === "remove" ? given : values).map(keyOf));
  if (op === "remove") return noneOrPrimary(values.filter((one) => !known.has(keyOf(one))));
  return noneOrPrimary([...values, ...given.filter((one) => !known.has(keyOf(one)))]);
}

/** Cached, because successive operations compare the same values, which may be long. */
const keys = new WeakMap<object, string>();

/** A string that is equal for values with the same identity, so that large sets can be compared at once. */
function keyOf(value: ScimValue): string {
  if (!isComplex(value)) return JSON.stringify(value);
  const known = keys.get(value);
  if (known !== undefined) return known;
  const { value: what, type } = value;
  const key = JSON.stringify(
    what === undefined
      ? Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
      : [what, typeof type === "string" ? type.toLowerCase() : null],
  );
  keys.set(value, key);
  return key;
}

/** Undefined if no value remains; otherwise at most one is primary. */
export function noneOrPrimary(values: (ScimValue | undefined)[]): ScimValue[] | undefined {
  const left = values.filter((one) => one !== undefined);
  return left.length === 0 ? undefined : onePrimary(left);
}
