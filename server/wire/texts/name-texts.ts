import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import type { TextSlot } from "../inbound.ts";
import { REQUEST_LEVELS } from "../json/nesting.ts";

/** Members below which nothing names a tool or who speaks: what tools are told and say, schemas, notes of the caller's own. */
const NAMELESS: ReadonlySet<string> = new Set([
  "arguments",
  "args",
  "response",
  "parameters",
  "input_schema",
  "inputSchema",
  "output_schema",
  "parametersJsonSchema",
  "parameters_json_schema",
  "responseJsonSchema",
  "response_json_schema",
  "responseSchema",
  "response_schema",
  "schema",
  "metadata",
  "cache_control",
]);
/** Roles of who speaks under a name of his own; under any other role the name is a tool's. */
const SPEAKERS: ReadonlySet<unknown> = new Set(["user", "assistant", "system", "developer"]);

/** As deep as a request may go. */
const MAX_DEPTH = REQUEST_LEVELS;

/**
 * The names in a request that a model reads: of who speaks, of tools, and of those that are called or chosen. What a speaker is
 * called may be said differently; by its own name a tool is called, so that stays. `touch` is told the member a
 * replacement stands in.
 */
export function nameTexts(body: JsonObject, members: readonly string[], touch: (member: string) => void): TextSlot[] {
  const slots: TextSlot[] = [];
  const walk = (value: JsonValue | undefined, member: string, depth: number): void => {
    if (depth > MAX_DEPTH) return;
    if (Array.isArray(value)) {
      for (const item of value) walk(item, member, depth + 1);
      return;
    }
    if (!isObject(value)) return;
    for (const key in value) {
      const inner = value[key];
      if (key === "name" && typeof inner === "string") slots.push(nameSlot(value, inner, () => touch(member)));
      // A call's input is what its tool is told; the input of a request holds the calls.
      else if (typeof inner === "object" && !NAMELESS.has(key) && !(key === "input" && !Array.isArray(inner)))
        walk(inner, member, depth + 1);
    }
  };
  for (const member of members) walk(body[member], member, 0);
  return slots;
}

function nameSlot(holder: JsonObject, text: string, touch: () => void): TextSlot {
  const fixed = !SPEAKERS.has(holder.role);
  return {
    role: fixed ? "tool_definition" : "user",
    kind: fixed ? "fixed_name" : "name",
    text,
    replace(next) {
      holder.name = next;
      touch();
    },
  };
}
