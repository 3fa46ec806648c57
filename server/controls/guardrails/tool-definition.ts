import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import { hasWords } from "../../wire/texts/other-texts.ts";
import { inTurns } from "../../kernel/scheduling/in-turns.ts";
import type { Call } from "../../road/call.ts";
import { contentWorkOf } from "../../road/policy/content-work.ts";
import { askEngines, type EngineParts } from "./engines.ts";
import { GuardRun, type GuardOutcome } from "./guard-run.ts";
import { nameWords } from "./names.ts";
import type { SurfaceGuard } from "./surface-guard.ts";

/** The result of inspecting a tool's definition. */
export interface DefinitionReview extends GuardOutcome {
  /** The definition as it may be offered; null if unchanged. It must not be offered if the verdict blocks. */
  readonly definition: JsonObject | null;
}

/** Members that no model reads. */
const UNREAD = new Set(["_meta", "icons"]);
/** Schema members whose value is a keyword of JSON Schema. */
const KEYWORDS = new Set([
  "type",
  "format",
  "$ref",
  "$dynamicRef",
  "$schema",
  "$id",
  "$anchor",
  "$dynamicAnchor",
  "contentEncoding",
  "contentMediaType",
  "taskSupport",
]);
/** Members whose own member names are chosen by the tool's author. */
const NAMED = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
  "dependentRequired",
  "default",
  "const",
  "enum",
  "examples",
]);
/** Those that contain no schema at any depth. */
const DATA = new Set(["default", "const", "enum", "examples"]);
/** Members meant to be read, which can be changed without making it a different tool. */
const PROSE = new Set(["title", "description", "instructions", "$comment", "examples"]);

/**
 * Inspects every text of a tool's definition: its name, title, description, and those in its schemas. Text meant to be read is
 * redacted; a name or value that would have to be redacted blocks the tool, because it could not be called under another name.
 */
export async function reviewDefinition(
  call: Call,
  guard: SurfaceGuard,
  definition: JsonObject,
  parts: EngineParts,
  run = new GuardRun(guard, contentWorkOf(call)),
): Promise<DefinitionReview> {
  const messages: string[] = [];
  let changed = false;

  const inspectText = async (text: string, isProse: boolean): Promise<string> => {
    const inspection = inTurns(run.text(text), run.work);
    const out = inspection instanceof Promise ? await inspection : inspection;
    messages.push(out);
    if (out === text || run.blocked !== null) return text;
    const { verdict } = run.outcome;
    if (!isProse && verdict !== null) run.engine({ ...verdict, action: "block" });
    changed = true;
    return out;
  };
  const walk = async (value: JsonValue, name: string, isProse: boolean): Promise<JsonValue> => {
    if (run.blocked !== null) return value;
    if (typeof value === "string") return KEYWORDS.has(name) && !hasWords(value) ? value : inspectText(value, isProse);
    if (Array.isArray(value)) {
      const items: JsonValue[] = [];
      for (const item of value) items.push(await walk(item, name, isProse));
      return items;
    }
    if (!isObject(value)) return value;
    const members: Record<string, JsonValue> = {};
    for (const [key, member] of Object.entries(value)) {
      if (member === undefined) continue;
      if (NAMED.has(name)) await inspectText(key, false);
      // A property of this name within a schema is itself a schema.
      const readable = isProse || (PROSE.has(key) && !NAMED.has(name));
      members[key] = await walk(member, DATA.has(name) ? name : NAMED.has(name) ? "" : key, readable);
    }
    return members;
  };

  const members: Record<string, JsonValue> = {};
  for (const [key, member] of Object.entries(definition))
    if (member !== undefined) members[key] = UNREAD.has(key) ? member : await walk(member, key, PROSE.has(key));
  // Names have no spaces, so a name is also inspected as its separate words.
  const { name } = definition;
  if (run.blocked === null && typeof name === "string" && nameWords(name) !== name) await inspectText(nameWords(name), false);
  if (run.blocked === null && guard.engines.length > 0) await askEngines(parts, run, call, "input", messages.join("\n\n"));
  run.noteInspected();
  return { ...run.outcome, definition: changed ? members : null };
}
