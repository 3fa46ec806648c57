import { isDeepStrictEqual } from "node:util";
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
  const same = (one: ScimValue, other: ScimValue) => isDeepStrictEqual(keyOf(one), keyOf(other));
  if (op === "remove") return noneOrPrimary(values.filter((one) => !given.some((other) => same(one, other))));
  const added = given.filter((one) => !values.some((other) => same(one, other)));
  return noneOrPrimary([...values, ...added]);
}

/** Two values are one when they say the same of what they are. */
function keyOf(value: ScimValue): unknown {
  if (!isComplex(value)) return value;
  return value.value === undefined ? { ...value } : [value.value, typeof value.type === "string" ? value.type.toLowerCase() : undefined];
}

/** Undefined where none is left, else with one primary value at most. */
export function noneOrPrimary(values: (ScimValue | undefined)[]): ScimValue[] | undefined {
  const left = values.filter((one) => one !== undefined);
  return left.length === 0 ? undefined : onePrimary(left);
}
