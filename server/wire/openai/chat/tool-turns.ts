import type { ToolResultPart } from "../../conversation/conversation-parts.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import { newCallId } from "../call-id.ts";
import { functionCalls } from "./assistant-reader.ts";
import { contentParts } from "./content-reader.ts";
import { filledOf, objectOf, objectsOf } from "../loose-fields.ts";
import { NOT_ELSEWHERE, type ReadReport } from "../read-report.ts";

const CALL_MEMBERS: ReadonlySet<string> = new Set(["id", "type", "function", "index"]);

export function chatToolCalls(message: JsonObject, field: string, place: number, report: ReadReport) {
  if (objectOf(message.audio) !== null) report.refuse(`${field}.audio`, NOT_ELSEWHERE);
  if (objectOf(message.function_call) !== null)
    report.refuse(`${field}.function_call`, "is the older form of tool calls: send it in `tool_calls`");
  for (const [call, i] of objectsOf(message.tool_calls)) {
    if (objectOf(call.function) === null) report.refuse(`${field}.tool_calls[${i}]`, `${NOT_ELSEWHERE}: only function calls have one`);
    else report.dropOthers(call, CALL_MEMBERS, "messages[].tool_calls[].");
  }
  return functionCalls(message, (i) => newCallId("messages", place, i));
}

export function chatToolResult(message: JsonObject, field: string, report: ReadReport): ToolResultPart {
  const content: ToolResultPart["content"][number][] = [];
  contentParts(message.content, `${field}.content`, report).forEach((part, i) => {
    if (part.kind === "audio") report.refuse(`${field}.content[${i}]`, NOT_ELSEWHERE);
    else content.push(part);
  });
  return { kind: "tool_result", callId: filledOf(message.tool_call_id) ?? "", toolName: filledOf(message.name), content, isError: false };
}
