import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import type { TextSlot } from "../inbound.ts";
import { hasWords, isNoText, isProtocolName } from "./other-texts.ts";
import { REQUEST_LEVELS } from "../json/nesting.ts";

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
/** What the language of schemas says in texts: kinds, names of arguments, patterns, addresses. What has words in it is shown like any other. */
const SAID: ReadonlySet<string> = new Set([
  ...["type", "format", "pattern", "required", "dependentRequired", "propertyOrdering", "property_ordering", "propertyName"],
  ...["$schema", "$id", "id", "$ref", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$vocabulary"],
  ...["contentEncoding", "contentMediaType"],
]);
/** The language of schemas: that, and where further schemas stand. */
const LANGUAGE: ReadonlySet<string> = new Set([
  ...SAID,
  ...["contentSchema", "items", "prefixItems", "additionalItems", "unevaluatedItems", "contains"],
  ...["additionalProperties", "unevaluatedProperties", "propertyNames", "allOf", "anyOf", "oneOf", "not", "if", "then", "else"],
  ...NAMED,
]);
/** Lists that formats have for something else than texts: hosts, names of tools and of stores. */
const LISTED: ReadonlySet<string> = new Set([
  ...["allowed_domains", "blocked_domains", "exclude_domains", "excludeDomains", "allowed_callers", "allowed_tools", "tool_names"],
  ...["file_search_store_names", "fileSearchStoreNames"],
]);
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

/** A list or an object that is gone through. */
interface Holder {
  readonly holder: JsonObject | JsonValue[];
  readonly place: Place;
  readonly depth: number;
  /** What a list is the value of; "" for an object, and where whoever wrote the schema named it. */
  readonly of: string;
  /** Whether all below it are words. */
  readonly worded: boolean;
  /** Whether its members are named by whoever wrote the schema. */
  readonly named: boolean;
}

/**
 * The words in answer schemas, and those in tool definitions that are no descriptions, names with words in them among them; whole
 * numbers among values too. `touch` is told the member a replacement stands in.
 */
export function definitionTexts(body: JsonObject, members: readonly string[], touch: (member: string) => void): TextSlot[] {
  const slots: TextSlot[] = [];
  for (const member of members) {
    const value = body[member];
    const place: Place = TOOLS.has(member) ? "own" : "beside";
    if (Array.isArray(value) || isObject(value))
      collect({ holder: value, place, depth: 0, of: Array.isArray(value) ? member : "", worded: false, named: false }, slots, {
        // The descriptions of tools are texts of the request already.
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
    const isWord = worded || (!isNaming && WORDS.has(key) && !isTold(key, member));
    // What the language of schemas does not know, servers show a model all the same.
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

const isTold = (key: string, { describes }: Member) => key === "description" && !describes;

/** As what a string is looked at that stands neither where words do nor under a name nobody knows; null where it is none. */
function kindOf({ holder, place, of, named }: Holder, key: string, value: string, member: Member): "text" | "fixed_text" | null {
  const isList = Array.isArray(holder);
  const name = isList ? of : key;
  if (!isList && !named && key === GRAMMAR) return "fixed_text";
  if (!isList && isTold(key, member)) return null;
  switch (place) {
    case "schema":
      // Where a schema has to stand, a text is no part of the language either.
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

/** What calls answer to cannot be said differently. */
function nameSlot(text: string): TextSlot {
  return { role: "tool_definition", kind: "fixed_text", text, replace: () => undefined };
}
