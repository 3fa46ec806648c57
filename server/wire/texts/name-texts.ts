import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import type { TextSlot } from "../inbound.ts";
import { REQUEST_LEVELS } from "../json/nesting.ts";

/** Members that contain no names of tools or speakers: tool input and output, schemas, the caller's metadata. */
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
/** Roles in which `name` is the speaker's; in other roles it is a tool's. */
const SPEAKERS: ReadonlySet<unknown> = new Set(["user", "assistant", "system", "developer"]);

/** The maximum nesting of a request. */
const MAX_DEPTH = REQUEST_LEVELS;

/**
 * The names in a request that a model reads: of speakers, of tools, and of the tools that are called or chosen. A
 * speaker's name can be replaced, a tool's cannot. `touch` is called with the name of the member in which a replacement
 * was made.
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
      // An object in `input` is a tool call's input; an array is the request's input, which contains the calls.
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
