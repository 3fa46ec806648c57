import { isObject, type JsonObject, type JsonValue } from "./document.ts";
import type { TextSlot } from "./inbound.ts";
import { hasWords, isNoText } from "./other-texts.ts";
import { REQUEST_LEVELS } from "./nesting.ts";

/** Members of tool definitions and schemas that hold words for the model; names are no words, they are what calls answer to. */
const WORDS: ReadonlySet<string> = new Set([
  "description",
  "server_description",
  "title",
  "$comment",
  "default",
  "const",
  "enum",
  "examples",
  "example",
  "input_examples",
]);
/** Of these, those whose value may hold words at any depth. */
const VALUES: ReadonlySet<string> = new Set(["default", "const", "enum", "examples", "example", "input_examples"]);
/** The grammar of a tool's input, which with other words would be another. */
const GRAMMAR = "definition";
/** Members whose own members are named by whoever wrote the schema. */
const NAMED: ReadonlySet<string> = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);

/** As deep as a request may go. */
const MAX_DEPTH = REQUEST_LEVELS;

/** Members that hold a schema. */
const SCHEMA: ReadonlySet<string> = new Set([
  ...["parameters", "input_schema", "inputSchema", "output_schema", "outputSchema", "schema", "response"],
  ...["parametersJsonSchema", "parameters_json_schema", "responseJsonSchema", "response_json_schema", "responseSchema", "response_schema"],
]);
/** The language of schemas: its own words, names of arguments, patterns, and where further schemas stand. */
const LANGUAGE: ReadonlySet<string> = new Set([
  ...["type", "format", "pattern", "required", "dependentRequired", "propertyOrdering", "property_ordering", "propertyName"],
  ...["$schema", "$id", "id", "$ref", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$vocabulary"],
  ...["contentEncoding", "contentMediaType", "contentSchema", "items", "prefixItems", "additionalItems", "unevaluatedItems", "contains"],
  ...["additionalProperties", "unevaluatedProperties", "propertyNames", "allOf", "anyOf", "oneOf", "not", "if", "then", "else"],
  ...NAMED,
]);
/** Of these, those that say of which kind something is: a text with spaces between its words is none. */
const KINDS: ReadonlySet<string> = new Set(["type", "format", "contentEncoding", "contentMediaType"]);
/** What a server is asked with. */
const HEADERS = "headers";
const CREDENTIALS: ReadonlySet<string> = new Set(["authorization", "server_url"]);
/** Whose descriptions are texts of the request already; servers show a model whole definitions, whatever stands in them. */
const TOOLS: ReadonlySet<string> = new Set(["tools", "functions"]);

/** Where in a definition something stands: outside of its schemas, in one, or in what is no definition. */
type Place = "own" | "schema" | "beside";

function placeWithin(key: string, place: Place): Place {
  if (place === "schema" || SCHEMA.has(key)) return "schema";
  return key === HEADERS ? "beside" : place;
}

/**
 * The words in answer schemas, and those in tool definitions that are no descriptions; whole numbers among values too. `touch` is told
 * the member a replacement stands in.
 */
export function definitionTexts(body: JsonObject, members: readonly string[], touch: (member: string) => void): TextSlot[] {
  const slots: TextSlot[] = [];
  const slot = (holder: JsonObject | JsonValue[], key: string | number, member: string, kind: "text" | "fixed_text") => {
    const places = holder as Record<string | number, JsonValue>;
    slots.push({
      role: "tool_definition",
      kind,
      text: String(places[key]),
      replace(text) {
        places[key] = text;
        touch(member);
      },
    });
  };
  const walk = (holder: JsonObject | JsonValue[], member: string, worded: boolean, named: boolean, depth: number, place: Place): void => {
    if (depth > MAX_DEPTH) return;
    const isNaming = named || Array.isArray(holder);
    for (const key in holder) {
      const value = (holder as JsonObject)[key] as JsonValue;
      // The descriptions of tools are texts of the request already.
      const isTold = key === "description" && TOOLS.has(member);
      const isWord = worded || (!isNaming && WORDS.has(key) && !isTold);
      // What the language of schemas does not know, servers show a model all the same.
      const isForeign = place === "schema" && !isNaming && !LANGUAGE.has(key) && !WORDS.has(key) && !SCHEMA.has(key);
      if (place === "schema" && !isNaming && !worded && KINDS.has(key)) {
        if (typeof value === "string" && hasWords(value)) slot(holder, key, member, "fixed_text");
        if (Array.isArray(value))
          for (const [n, one] of value.entries()) if (typeof one === "string" && hasWords(one)) slot(value, n, member, "fixed_text");
      }
      if (typeof value === "string") {
        if (value === "") continue;
        if (isWord || isForeign) slot(holder, key, member, "text");
        else if (key === GRAMMAR && !named) slot(holder, key, member, "fixed_text");
        else if (place === "own" && !Array.isArray(holder) && !isTold && !CREDENTIALS.has(key) && !isNoText(key, value))
          slot(holder, key, member, "text");
      } else if (Number.isSafeInteger(value)) {
        if (isWord) slot(holder, key, member, "text");
      } else if (Array.isArray(value) || isObject(value))
        walk(
          value,
          member,
          worded || isForeign || (isWord && (Array.isArray(value) || VALUES.has(key))),
          !worded && !named && NAMED.has(key),
          depth + 1,
          placeWithin(key, place),
        );
    }
  };
  for (const member of members) {
    const value = body[member];
    if (Array.isArray(value) || isObject(value)) walk(value, member, false, false, 0, TOOLS.has(member) ? "own" : "beside");
  }
  return slots;
}
