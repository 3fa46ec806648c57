import type { Tool, ToolChoice } from "../conversation/request.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { asksNothing } from "../json/document.ts";
import { cacheHint } from "./chat/content-reader.ts";
import { booleanOf, filledOf, objectOf, objectsOf, stringOf } from "./loose-fields.ts";
import { openAiToolName } from "./offered-tools.ts";
import { NOT_ELSEWHERE, type ReadReport } from "./read-report.ts";

/** Returns the object with a function tool's members: `function` in chat, the tool itself in Responses. */
export type ToolBody = (tool: JsonObject) => JsonObject | null;

const TOOL_MEMBERS: ReadonlySet<string> = new Set([
  ...["type", "function", "name", "description", "parameters", "strict", "cache_control", "prompt_cache_breakpoint"],
  // Tools with deferred loading are offered at once.
  "defer_loading",
]);

/** The members of a function tool that no other format can express. */
export function lostMembers(tool: JsonObject): string[] {
  return Object.entries(tool).flatMap(([name, value]) => (TOOL_MEMBERS.has(name) || asksNothing(value) ? [] : name));
}

export function readFunctionTools(tools: unknown, bodyOf: ToolBody, report: ReadReport): Tool[] {
  const read: Tool[] = [];
  for (const [tool, i] of objectsOf(tools)) {
    const body = tool.type === undefined || tool.type === "function" ? bodyOf(tool) : null;
    const name = filledOf(body?.name);
    if (body === null || name === null)
      report.refuse(`tools[${i}]`, `${NOT_ELSEWHERE}: only function tools have one, not ${JSON.stringify(tool.type ?? null)}`);
    else {
      for (const member of lostMembers(tool)) report.drop(`tools[${i}].${member}`);
      for (const member of lostMembers(body)) report.drop(`tools[${i}].function.${member}`);
      read.push({
        name,
        description: stringOf(body.description),
        schema: objectOf(body.parameters),
        strict: booleanOf(body.strict),
        ...cacheHint(tool),
      });
    }
  }
  return read;
}

export function readFunctionToolChoice(choice: unknown, bodyOf: ToolBody, report: ReadReport): ToolChoice | null {
  if (choice === undefined || choice === null) return null;
  if (choice === "auto" || choice === "none" || choice === "required") return { kind: choice };
  if (choice === "any") return { kind: "required" };
  const object = objectOf(choice);
  if (object?.type === "function") {
    const name = filledOf(bodyOf(object)?.name);
    if (name !== null) return { kind: "tool", name };
  }
  if (object?.type === "allowed_tools") {
    const allowed = objectOf(object.allowed_tools) ?? object;
    const names: string[] = [];
    for (const [tool] of objectsOf(allowed.tools)) {
      const name = tool.type === "function" ? openAiToolName(tool) : null;
      if (name === null) report.refuse("tool_choice", `${NOT_ELSEWHERE}: only function tools can be allowed`);
      else names.push(name);
    }
    return { kind: "subset", names, required: allowed.mode === "required" };
  }
  report.refuse("tool_choice", NOT_ELSEWHERE);
  return null;
}
