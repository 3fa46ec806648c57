import { isComplex, type ScimAttribute, type ScimObject, type ScimValue, attributeNamed } from "./attributes.ts";
import { invalidFilter, type ScimFilter } from "./filter.ts";

/** Whether one value of a multi-valued attribute fits the filter in the brackets of a path. */
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

/** Without case where the attribute has none, and with "True" for true, as the large directories write it. */
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

/** The value that a filter of equalities describes, for who sets what is not there yet; undefined of any other filter. */
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
