import { isObject, type JsonObject, type JsonValue } from "./document.ts";
import type { TextSlot } from "./inbound.ts";
import { isNoText } from "./other-texts.ts";
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

/** Schemas of tools, whose other words are their own, and what a server is asked with. */
const APART: ReadonlySet<string> = new Set([
  ...["parameters", "input_schema", "inputSchema", "output_schema", "outputSchema", "schema", "response", "headers"],
  ...["parametersJsonSchema", "parameters_json_schema", "responseJsonSchema", "response_json_schema"],
]);
const CREDENTIALS: ReadonlySet<string> = new Set(["authorization", "server_url"]);
/** Whose descriptions are texts of the request already; servers show a model whole definitions, whatever stands in them. */
const TOOLS: ReadonlySet<string> = new Set(["tools", "functions"]);

/**
 * The words in answer schemas, and those in tool definitions that are no descriptions. `touch` is told the member a replacement stands
 * in.
 */
export function definitionTexts(body: JsonObject, members: readonly string[], touch: (member: string) => void): TextSlot[] {
  const slots: TextSlot[] = [];
  const slot = (holder: JsonObject | JsonValue[], key: string | number, member: string, kind: "text" | "fixed_text") => {
    const places = holder as Record<string | number, JsonValue>;
    slots.push({
      role: "tool_definition",
      kind,
      text: places[key] as string,
      replace(text) {
        places[key] = text;
        touch(member);
      },
    });
  };
  // `own`: of a definition outside of its schemas.
  const walk = (holder: JsonObject | JsonValue[], member: string, worded: boolean, named: boolean, depth: number, own: boolean): void => {
    if (depth > MAX_DEPTH) return;
    for (const [key, value] of Object.entries(holder)) {
      const isWord = worded || (!named && !Array.isArray(holder) && WORDS.has(key) && !(key === "description" && TOOLS.has(member)));
      if (typeof value === "string") {
        if (value === "") continue;
        if (isWord) slot(holder, key, member, "text");
        else if (key === GRAMMAR && !named) slot(holder, key, member, "fixed_text");
        else if (own && !Array.isArray(holder) && key !== "description" && !CREDENTIALS.has(key) && !isNoText(key, value))
          slot(holder, key, member, "text");
      } else if (Array.isArray(value) || isObject(value))
        walk(
          value,
          member,
          worded || (isWord && (Array.isArray(value) || VALUES.has(key))),
          !worded && !named && NAMED.has(key),
          depth + 1,
          own && !APART.has(key),
        );
    }
  };
  for (const member of members) {
    const value = body[member];
    if (Array.isArray(value) || isObject(value)) walk(value, member, false, false, 0, TOOLS.has(member));
  }
  return slots;
}
