import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";

/** Keywords that structured output refuses. They are added to the description instead, where the model can read them. */
const REFUSED: ReadonlySet<string> = new Set([
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "maxItems",
  "uniqueItems",
  "minProperties",
  "maxProperties",
  "patternProperties",
]);
const SCHEMAS: ReadonlySet<string> = new Set(["items", "not", "if", "then", "else"]);
const SCHEMA_LISTS: ReadonlySet<string> = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
const SCHEMA_MAPS: ReadonlySet<string> = new Set(["properties", "$defs", "definitions"]);

/**
 * Adapts a JSON Schema to structured output: closes every object, which other vendors leave open by default, and removes
 * unsupported keywords. The caller's explicit `additionalProperties` are kept.
 */
export function outputSchema(schema: JsonObject): JsonObject {
  const closed: JsonObject = {};
  const hints: string[] = [];
  for (const [name, value] of Object.entries(schema)) {
    if (value === undefined) continue;
    if (REFUSED.has(name) || (name === "minItems" && value !== 0 && value !== 1)) hints.push(`${name}: ${JSON.stringify(value)}`);
    else if (SCHEMAS.has(name)) closed[name] = subschema(value);
    else if (SCHEMA_LISTS.has(name) && Array.isArray(value)) closed[name] = value.map(subschema);
    else if (SCHEMA_MAPS.has(name) && isObject(value))
      closed[name] = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, subschema(inner)]));
    else closed[name] = value;
  }
  if (isObjectSchema(schema) && schema.additionalProperties === undefined) closed.additionalProperties = false;
  if (hints.length > 0)
    closed.description = [schema.description, `{${hints.join(", ")}}`].filter((text) => typeof text === "string").join("\n\n");
  return closed;
}

function subschema(value: JsonValue | undefined): JsonValue {
  return isObject(value) ? outputSchema(value) : (value ?? null);
}

function isObjectSchema(schema: JsonObject): boolean {
  return (
    schema.type === "object" ||
    (Array.isArray(schema.type) && schema.type.includes("object")) ||
    (schema.type === undefined && isObject(schema.properties))
  );
}
