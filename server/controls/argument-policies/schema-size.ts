import type { FieldError } from "../../kernel/errors.ts";
import { isObject } from "../../kernel/json-value.ts";
import { patternProblem } from "./schema-pattern.ts";
import { STEP, type StepCost } from "./schema-steps.ts";

const MAX_BYTES = 64 * 1024;
const MAX_DEPTH = 32;
/** Limits on subschemas, references and patterns, because compiling each takes time. */
const MAX_SCHEMAS = 1_000;
const MAX_REFERENCES = 500;
const MAX_PATTERNS = 200;
/** Most errors reported at once. */
const MAX_REPORTED = 20;

/** Keywords whose value is a schema, a list of schemas, or schemas by name. */
const ONE = new Set([
  "additionalProperties",
  "propertyNames",
  "items",
  "contains",
  "not",
  "if",
  "then",
  "else",
  "unevaluatedItems",
  "unevaluatedProperties",
  "additionalItems",
  "contentSchema",
]);
const MANY = new Set(["allOf", "anyOf", "oneOf", "prefixItems", "items"]);
const NAMED = new Set(["properties", "patternProperties", "dependentSchemas", "$defs", "definitions", "dependencies"]);
/** Keywords that visit all members of an object. */
const OVER_MEMBERS = [
  "additionalProperties",
  "patternProperties",
  "propertyNames",
  "unevaluatedProperties",
  "maxProperties",
  "minProperties",
];

type Schema = Readonly<Record<string, unknown>>;

/** Walks a schema once, counting what makes it costly, and annotates each subschema with the cost of evaluating it. */
class Measure {
  readonly fields: FieldError[] = [];
  private schemas = 0;
  private references = 0;
  private patterns = 0;

  schema(schema: Schema, path: string): Schema {
    this.schemas++;
    if (this.schemas > MAX_SCHEMAS || this.references > MAX_REFERENCES || this.patterns > MAX_PATTERNS) return schema;
    const out: Record<string, unknown> = {};
    let listed = 0;
    for (const [keyword, value] of Object.entries(schema)) {
      const at = `${path}.${keyword}`;
      if (keyword === "$ref" || keyword === "$dynamicRef") this.references++;
      if (keyword === "pattern" && typeof value === "string") this.pattern(value, at);
      // An enumeration is a set lookup, however long it is.
      if (Array.isArray(value) && keyword !== "enum") listed += value.length;
      if (isObject(value) && NAMED.has(keyword)) {
        listed += keyword.endsWith("efs") || keyword === "definitions" ? 0 : Object.keys(value).length;
        out[keyword] = Object.fromEntries(
          Object.entries(value).map(([name, one]) => {
            if (keyword === "patternProperties") this.pattern(name, `${at}.${name}`);
            return [name, isObject(one) ? this.schema(one, `${at}.${name}`) : one];
          }),
        );
      } else if (isObject(value) && ONE.has(keyword)) out[keyword] = this.schema(value, at);
      else if (Array.isArray(value) && MANY.has(keyword))
        out[keyword] = value.map((one, index) => (isObject(one) ? this.schema(one, `${at}.${index}`) : (one as unknown)));
      else out[keyword] = value;
    }
    const cost: StepCost = { steps: 1 + Math.ceil(listed / 4), members: OVER_MEMBERS.some((keyword) => keyword in schema) };
    out[STEP] = cost;
    return out;
  }

  private pattern(source: string, field: string): void {
    this.patterns++;
    if (this.patterns > MAX_PATTERNS) return;
    const message = patternProblem(source);
    if (message !== null && this.fields.length < MAX_REPORTED) this.fields.push({ field, message });
  }

  problems(): readonly FieldError[] {
    const most = (count: number, limit: number, what: string): FieldError[] =>
      count > limit ? [{ field: "schema", message: `must not hold more than ${limit} ${what}` }] : [];
    return [
      ...this.fields,
      ...most(this.schemas, MAX_SCHEMAS, "schemas"),
      ...most(this.references, MAX_REFERENCES, "references"),
      ...most(this.patterns, MAX_PATTERNS, "patterns"),
    ];
  }
}

/** The schema annotated with evaluation costs, and the errors that keep it from being used. */
export function measuredSchema(schema: object): { readonly measured: object; readonly fields: readonly FieldError[] } {
  const wrong = (message: string) => ({ measured: schema, fields: [{ field: "schema", message }] });
  if (depthOf(schema) > MAX_DEPTH) return wrong(`must not nest deeper than ${MAX_DEPTH}`);
  if (JSON.stringify(schema).length > MAX_BYTES) return wrong(`must not be larger than ${MAX_BYTES} characters`);
  const measure = new Measure();
  const measured = measure.schema(schema as Schema, "schema");
  return { measured, fields: measure.problems() };
}

/** Depth of a value, counted no further than one past the limit. */
function depthOf(value: unknown, depth = 1): number {
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return depth;
  let deepest = depth;
  for (const inner of Object.values(value)) deepest = Math.max(deepest, depthOf(inner, depth + 1));
  return deepest;
}
