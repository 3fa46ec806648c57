import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import { camelName } from "./member-names.ts";

/** Deeper schemas are cut off, to bound the recursion; no model uses them. */
const MAX_DEPTH = 64;

const COUNTS = new Set(["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"]);
const SCHEMAS = new Set(["items", "additionalProperties", "not"]);
const LISTS = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
const NAMED = new Set(["properties", "$defs", "defs", "definitions", "patternProperties"]);

/** Converts a schema in Google's OpenAPI dialect (types in capitals, `nullable`, counts as strings) to JSON Schema. */
export function jsonSchemaOf(schema: JsonObject, depth = 0): JsonObject {
  if (depth > MAX_DEPTH) return {};
  const result: JsonObject = {};
  for (const [key, value] of Object.entries(schema)) {
    if (value === undefined || value === null) continue;
    const name = key.startsWith("$") ? key : camelName(key);
    const [as, converted] = converter(name, value, depth);
    if (as !== null) result[as] = converted;
  }
  return schema.nullable === true ? orNull(result) : result;
}

function converter(name: string, value: JsonValue, depth: number): [string | null, JsonValue] {
  const sub = (each: JsonValue) => (isObject(each) ? jsonSchemaOf(each, depth + 1) : each);
  if (name === "nullable" || name === "propertyOrdering") return [null, null];
  if (name === "type") return value === "TYPE_UNSPECIFIED" ? [null, null] : [name, typeof value === "string" ? value.toLowerCase() : value];
  // A marker that accompanies `enum`, not a JSON Schema format.
  if (name === "format" && value === "enum") return [null, null];
  if (name === "example") return ["examples", [value]];
  if (COUNTS.has(name)) return [name, typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value];
  if (SCHEMAS.has(name)) return [name, sub(value)];
  if (LISTS.has(name) && Array.isArray(value)) return [name, value.map(sub)];
  if (NAMED.has(name) && isObject(value)) {
    return [name, Object.fromEntries(Object.entries(value).map(([key, each]) => [key, each === undefined ? undefined : sub(each)]))];
  }
  return [name, value];
}

function orNull(schema: JsonObject): JsonObject {
  const result = { ...schema };
  if (typeof result.type === "string") result.type = [result.type, "null"];
  if (Array.isArray(result.enum) && !result.enum.includes(null)) result.enum = [...result.enum, null];
  if (Array.isArray(result.anyOf)) result.anyOf = [...result.anyOf, { type: "null" }];
  return result;
}
