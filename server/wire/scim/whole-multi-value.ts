import { type Ignored, isComplex, onePrimary, readValue, type ScimAttribute, type ScimValue } from "./attributes.ts";
import type { PatchOperation } from "./patch-operations.ts";

/** The values of an attribute after an operation on all of them. */
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

/** Operations are carried out one after the other on the same values, which may be long. */
const keys = new WeakMap<object, string>();

/** Two values are one when they say the same of what they are: as a text, so that many are compared with many at once. */
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

/** Undefined where none is left, else with one primary value at most. */
export function noneOrPrimary(values: (ScimValue | undefined)[]): ScimValue[] | undefined {
  const left = values.filter((one) => one !== undefined);
  return left.length === 0 ? undefined : onePrimary(left);
}
