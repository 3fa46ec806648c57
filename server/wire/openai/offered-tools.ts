import { isObject, type JsonValue } from "../../kernel/json-value.ts";
import { filledOf, looseListOf, objectOf } from "./loose-fields.ts";

/** The name of a tool definition or of a tool choice's target; a built-in tool is named by its type. */
export function openAiToolName(tool: unknown): string | null {
  return namesOf(tool)[0] ?? null;
}

/** Types of tools named by the caller; all other types identify the tool by themselves. */
const NAMED_TYPES: ReadonlySet<string> = new Set(["function", "custom", "namespace"]);
const VERSION = /_\d{8}$/;

/**
 * Every name by which some server may identify a tool: `function.name` in chat, the tool's own name in Responses, and for
 * a vendor's tool its type.
 */
function namesOf(tool: unknown): string[] {
  const object = objectOf(tool);
  if (object === null) return [];
  const names: string[] = [];
  for (const name of [objectOf(object.function)?.name, objectOf(object.custom)?.name, object.name]) {
    const filled = filledOf(name);
    if (filled !== null) names.push(filled);
  }
  const type = filledOf(object.type);
  if (type === null || (names.length > 0 && (NAMED_TYPES.has(type) || names.includes(type.replace(VERSION, ""))))) return names;
  return [...names, type];
}

/** The names in order; a namespace yields its own name and those of its tools. */
export function openAiToolNames(tools: unknown): string[] {
  const names: string[] = [];
  for (const tool of looseListOf(tools)) {
    names.push(...namesOf(tool));
    const nested = objectOf(tool)?.tools;
    if (nested !== undefined) names.push(...openAiToolNames(nested));
  }
  return names;
}

const isOneOf = (names: ReadonlySet<string>, tool: unknown): boolean => namesOf(tool).some((name) => names.has(name));

/** The tools without those named; null if none of them was present. */
export function toolsWithout(tools: unknown, names: ReadonlySet<string>): JsonValue[] | null {
  let changed = false;
  const kept: JsonValue[] = [];
  for (const tool of looseListOf(tools) as JsonValue[]) {
    if (isOneOf(names, tool)) {
      changed = true;
      continue;
    }
    const nested = isObject(tool) ? toolsWithout(tool.tools, names) : null;
    if (nested !== null) changed = true;
    kept.push(nested === null ? tool : { ...(tool as object), tools: nested });
  }
  return changed ? kept : null;
}

/** The tool choice after removing tools; undefined leaves the choice to the model. */
export function choiceWithout(choice: JsonValue | undefined, names: ReadonlySet<string>): JsonValue | undefined {
  if (!isObject(choice)) return choice;
  if (choice.type !== "allowed_tools") return isOneOf(names, choice) ? undefined : choice;
  const inner = objectOf(choice.allowed_tools);
  const kept = toolsWithout((inner ?? choice).tools, names);
  if (kept === null) return choice;
  // If the caller allowed only removed tools, none may be called.
  if (kept.length === 0) return "none";
  return inner === null ? { ...choice, tools: kept } : { ...choice, allowed_tools: { ...inner, tools: kept } };
}
