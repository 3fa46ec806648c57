import { isComplex, type ScimAttribute, type ScimObject, type ScimValue, attributeNamed } from "./attributes.ts";
import { invalidFilter, type ScimFilter } from "./filter.ts";

/** Whether one value of a multi-valued attribute matches the filter in a path's brackets. */
export function valueFits(filter: ScimFilter, attribute: ScimAttribute, value: ScimValue): boolean {
  switch (filter.op) {
    case "and":
      return filter.filters.every((one) => valueFits(one, attribute, value));
    case "or":
      return filter.filters.some((one) => valueFits(one, attribute, value));
    case "not":
      return !valueFits(filter.filter, attribute, value);
    case "[]":
      throw invalidFilter("has brackets within brackets");
    default: {
      const known = attributeNamed(attribute.sub ?? [], filter.attrPath);
      const held = known === undefined || !isComplex(value) ? undefined : (value as ScimObject)[known.name];
      if (filter.op === "pr") return held !== undefined && held !== "";
      return compares(filter.op, held, filter.compValue, known?.caseExact === true);
    }
  }
}

/** Ignores case unless the attribute is case-exact, and accepts "True" for true, as Entra ID sends it. */
function compares(op: string, held: ScimValue | undefined, wanted: unknown, caseExact: boolean): boolean {
  const one = held === undefined ? null : typeof held === "boolean" ? String(held) : typeof held === "string" ? held : null;
  const other = wanted === null ? null : String(wanted);
  if (one === null || other === null) return op === "eq" ? one === other : op === "ne" ? one !== other : false;
  const exact = caseExact && typeof held !== "boolean";
  const [left, right] = exact ? [one, other] : [one.toLowerCase(), other.toLowerCase()];
  switch (op) {
    case "eq":
      return left === right;
    case "ne":
      return left !== right;
    case "co":
      return left.includes(right);
    case "sw":
      return left.startsWith(right);
    case "ew":
      return left.endsWith(right);
    default:
      throw invalidFilter(`uses ${op} in a path`);
  }
}

/** The value described by a filter consisting only of equalities, to create it if absent; undefined for any other filter. */
export function describedValue(filter: ScimFilter, attribute: ScimAttribute): Record<string, unknown> | undefined {
  const parts = filter.op === "and" ? filter.filters : [filter];
  const value: Record<string, unknown> = {};
  for (const part of parts) {
    if (part.op !== "eq") return undefined;
    const known = attributeNamed(attribute.sub ?? [], part.attrPath);
    if (known === undefined) return undefined;
    value[known.name] = part.compValue;
  }
  return value;
}
