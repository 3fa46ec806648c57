import { ownEntry } from "../../kernel/collections/own-entry.ts";
import type { ToolChoice } from "../conversation/request.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { filledOf, objectOf, objectsOf } from "../openai/loose-fields.ts";
import { NOT_ELSEWHERE, type ReadReport } from "../openai/read-report.ts";
import { CLIENT_TOOLS } from "./client-tools.ts";
import type { ToolNames } from "./tool-names.ts";

/** Reads the tool choice, using the tools' function names. */
export function readToolChoice(choice: unknown, names: ToolNames, report: ReadReport): ToolChoice | null {
  if (choice === undefined || choice === null || choice === "auto" || choice === "none") return choice == null ? null : { kind: choice };
  if (choice === "any" || choice === "required") return missing(names, report) ? null : { kind: "required" };
  const object = objectOf(choice);
  const chosen = object === null ? null : chosenName(object, names);
  if (chosen !== null) return { kind: "tool", name: chosen };
  if (object?.type !== "allowed_tools") {
    report.refuse("tool_choice", NOT_ELSEWHERE);
    return null;
  }
  const allowed = objectOf(object.allowed_tools) ?? object;
  const required = allowed.mode === "required";
  const chosenNames: string[] = [];
  for (const [tool] of objectsOf(allowed.tools)) {
    if (names.leftOut.has(filledOf(tool.type) ?? "")) continue;
    const name = chosenName(tool, names);
    if (name === null) report.refuse("tool_choice", `${NOT_ELSEWHERE}: only tools that the client runs can be allowed`);
    else chosenNames.push(name);
  }
  if (chosenNames.length === 0 && names.leftOut.size > 0 && !required) return { kind: "none" };
  return required && chosenNames.length === 0 && missing(names, report) ? null : { kind: "subset", names: chosenNames, required };
}

/** Whether a call is required but all tools were left out. */
function missing(names: ToolNames, report: ReadReport): boolean {
  if (names.leftOut.size === 0 || names.tools.length > 0) return false;
  report.refuse("tool_choice", `${NOT_ELSEWHERE}: ${[...names.leftOut].join(", ")} cannot be called there`);
  return true;
}

function chosenName(tool: JsonObject, names: ToolNames): string | null {
  const kind = filledOf(tool.type) ?? "";
  const name = kind === "function" || kind === "custom" ? filledOf(tool.name) : ownEntry(CLIENT_TOOLS, kind) === undefined ? null : kind;
  return name === null ? null : names.nameOf({ kind, name, namespace: filledOf(tool.namespace) });
}
