import { isObject, type JsonValue } from "../document.ts";
import { filledOf, looseListOf, objectOf } from "./loose-fields.ts";

/** The name of a tool definition, or of what a tool choice points at: a built-in tool is known by its type. */
export function openAiToolName(tool: unknown): string | null {
  const object = objectOf(tool);
  if (object === null) return null;
  return (
    filledOf(objectOf(object.function)?.name) ?? filledOf(objectOf(object.custom)?.name) ?? filledOf(object.name) ?? filledOf(object.type)
  );
}

/** Names in order; a group of tools gives its own name and those of its tools. */
export function openAiToolNames(tools: unknown): string[] {
  const names: string[] = [];
  for (const tool of looseListOf(tools)) {
    const name = openAiToolName(tool);
    if (name !== null) names.push(name);
    const nested = objectOf(tool)?.tools;
    if (nested !== undefined) names.push(...openAiToolNames(nested));
  }
  return names;
}

/** The tools without those named; null when none of them was there. */
export function toolsWithout(tools: unknown, names: ReadonlySet<string>): JsonValue[] | null {
  let changed = false;
  const kept: JsonValue[] = [];
  for (const tool of looseListOf(tools) as JsonValue[]) {
    if (names.has(openAiToolName(tool) ?? "")) {
      changed = true;
      continue;
    }
    const nested = isObject(tool) ? toolsWithout(tool.tools, names) : null;
    if (nested !== null) changed = true;
    kept.push(nested === null ? tool : { ...(tool as object), tools: nested });
  }
  return changed ? kept : null;
}

/** What becomes of a tool choice when tools are taken away; undefined leaves the choice to the model. */
export function choiceWithout(choice: JsonValue | undefined, names: ReadonlySet<string>): JsonValue | undefined {
  if (!isObject(choice)) return choice;
  if (choice.type !== "allowed_tools") return names.has(openAiToolName(choice) ?? "") ? undefined : choice;
  const inner = objectOf(choice.allowed_tools);
  const kept = toolsWithout((inner ?? choice).tools, names);
  if (kept === null) return choice;
  // Whoever allowed only tools that are gone now allows none.
  if (kept.length === 0) return "none";
  return inner === null ? { ...choice, tools: kept } : { ...choice, allowed_tools: { ...inner, tools: kept } };
}
