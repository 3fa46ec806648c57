import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import type { TextSlot } from "../inbound.ts";
import { hasWords, isNoText, isProtocolName } from "./other-texts.ts";
import { REQUEST_LEVELS } from "../json/nesting.ts";

/** Members of tool definitions and schemas with text for the model. Names are not included: calls refer to them. */
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
/** Those of `WORDS` whose value may contain text at any depth. */
const VALUES: ReadonlySet<string> = new Set(["default", "const", "enum", "examples", "example", "input_examples"]);
/** A grammar for a tool's input, which cannot be reworded. */
const GRAMMAR = "definition";
/** Members with free-form keys. */
const NAMED: ReadonlySet<string> = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);

/** The maximum nesting of a request. */
const MAX_DEPTH = REQUEST_LEVELS;

/** Members that hold a schema. */
const SCHEMA: ReadonlySet<string> = new Set([
  ...["parameters", "input_schema", "inputSchema", "output_schema", "outputSchema", "schema", "response"],
  ...["parametersJsonSchema", "parameters_json_schema", "responseJsonSchema", "response_json_schema", "responseSchema", "response_schema"],
]);
/** Schema keywords with string values: types, argument names, patterns, URIs. They are inspected if they contain words. */
const SAID: ReadonlySet<string> = new Set([
  ...["type", "format", "pattern", "required", "dependentRequired", "propertyOrdering", "property_ordering", "propertyName"],
  ...["$schema", "$id", "id", "$ref", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$vocabulary"],
  ...["contentEncoding", "contentMediaType"],
]);
/** All schema keywords: those above, and those with sub-schemas. */
const LANGUAGE: ReadonlySet<string> = new Set([
  ...SAID,
  ...["contentSchema", "items", "prefixItems", "additionalItems", "unevaluatedItems", "contains"],
  ...["additionalProperties", "unevaluatedProperties", "propertyNames", "allOf", "anyOf", "oneOf", "not", "if", "then", "else"],
  ...NAMED,
]);
/** Lists that are not text: hosts, and names of tools and stores. */
const LISTED: ReadonlySet<string> = new Set([
  ...["allowed_domains", "blocked_domains", "exclude_domains", "excludeDomains", "allowed_callers", "allowed_tools", "tool_names"],
  ...["file_search_store_names", "fileSearchStoreNames"],
]);
/** The HTTP headers for a remote server. */
const HEADERS = "headers";
const CREDENTIALS: ReadonlySet<string> = new Set(["authorization", "server_url"]);
/** Their descriptions are already texts of the request. Servers show models whole definitions, unknown members included. */
const TOOLS: ReadonlySet<string> = new Set(["tools", "functions"]);

/** Whether a value is in a definition but outside its schemas, in a schema, or outside any definition. */
type Place = "own" | "schema" | "beside";

function placeWithin(key: string, place: Place): Place {
  if (place === "schema" || SCHEMA.has(key)) return "schema";
  return key === HEADERS ? "beside" : place;
}

/** An array or object to traverse. */
interface Holder {
  readonly holder: JsonObject | JsonValue[];
  readonly place: Place;
  readonly depth: number;
  /** The name of the member whose value an array is; "" for an object, and for free-form keys. */
  readonly of: string;
  /** Whether everything below is text. */
  readonly worded: boolean;
  /** Whether its keys are free-form. */
  readonly named: boolean;
}

/**
 * The text in answer schemas, and in tool definitions other than descriptions, including names that contain words and
 * integers among values. `touch` is called with the name of the member in which a replacement was made.
 */
export function definitionTexts(body: JsonObject, members: readonly string[], touch: (member: string) => void): TextSlot[] {
  const slots: TextSlot[] = [];
  for (const member of members) {
    const value = body[member];
    const place: Place = TOOLS.has(member) ? "own" : "beside";
    if (Array.isArray(value) || isObject(value))
      collect({ holder: value, place, depth: 0, of: Array.isArray(value) ? member : "", worded: false, named: false }, slots, {
        // Descriptions of tools are already texts of the request.
        describes: !TOOLS.has(member),
        touch: () => touch(member),
      });
  }
  return slots;
}

interface Member {
  readonly describes: boolean;
  readonly touch: () => void;
}

function collect(at: Holder, slots: TextSlot[], member: Member): void {
  const { holder, place, depth, worded, named } = at;
  if (depth > MAX_DEPTH) return;
  const isList = Array.isArray(holder);
  const isNaming = named || isList;
  for (const key in holder) {
    if (!isList && place !== "beside" && !isProtocolName(key)) slots.push(nameSlot(key));
    const value = (holder as JsonObject)[key] as JsonValue;
    const isWord = worded || (!isNaming && WORDS.has(key) && !isDescription(key, member));
    // Servers show models unknown schema members, too.
    const isForeign = place === "schema" && !isNaming && !LANGUAGE.has(key) && !WORDS.has(key) && !SCHEMA.has(key);
    if (typeof value === "string") {
      const kind = value === "" ? null : isWord || isForeign ? "text" : kindOf(at, key, value, member);
      if (kind !== null) slots.push(valueSlot(holder, key, kind, member));
    } else if (Number.isSafeInteger(value)) {
      if (isWord) slots.push(valueSlot(holder, key, "text", member));
    } else if (Array.isArray(value) || isObject(value)) {
      const inner: Holder = {
        holder: value,
        place: placeWithin(key, place),
        depth: depth + 1,
        of: !Array.isArray(value) || named ? "" : isList ? at.of : key,
        worded: worded || isForeign || (isWord && (Array.isArray(value) || VALUES.has(key))),
        named: !worded && !named && NAMED.has(key),
      };
      collect(inner, slots, member);
    }
  }
}

const isDescription = (key: string, { describes }: Member) => key === "description" && !describes;

/** The kind of a string that is neither in a text member nor in an unknown one; null if it is not inspected. */
function kindOf({ holder, place, of, named }: Holder, key: string, value: string, member: Member): "text" | "fixed_text" | null {
  const isList = Array.isArray(holder);
  const name = isList ? of : key;
  if (!isList && !named && key === GRAMMAR) return "fixed_text";
  if (!isList && isDescription(key, member)) return null;
  switch (place) {
    case "schema":
      // A string in place of a schema is not schema language either.
      if (named || !SAID.has(name)) return "text";
      return hasWords(value) ? "fixed_text" : null;
    case "own":
      if (isList && LISTED.has(name) && !hasWords(value)) return null;
      return CREDENTIALS.has(name) || isNoText(name, value) ? null : "text";
    case "beside":
      return null;
  }
}

function valueSlot(holder: JsonObject | JsonValue[], key: string, kind: "text" | "fixed_text", { touch }: Member): TextSlot {
  const places = holder as Record<string, JsonValue>;
  return {
    role: "tool_definition",
    kind,
    text: String(places[key]),
    replace(text) {
      places[key] = text;
      touch();
    },
  };
}

/** Names that calls refer to cannot be replaced. */
function nameSlot(text: string): TextSlot {
  return { role: "tool_definition", kind: "fixed_text", text, replace: () => undefined };
}
