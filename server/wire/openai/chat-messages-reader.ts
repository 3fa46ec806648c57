import { OwnPictures } from "../conversation/own-pictures.ts";
import type { Turn } from "../conversation/request.ts";
import type { TextPart, ToolResultPart } from "../conversation/conversation-parts.ts";
import type { JsonObject } from "../document.ts";
import { newCallId } from "./call-id.ts";
import { assistantTexts, functionCalls, ownPictures } from "./chat-assistant-reader.ts";
import { contentParts, textParts } from "./chat-content-reader.ts";
import { filledOf, objectOf, objectsOf } from "./loose-fields.ts";
import { NOT_ELSEWHERE, type ReadReport } from "./read-report.ts";

/**
 * The messages of a chat as turns. System messages before all others are the instructions; the results of calls made
 * together stand in one user turn, because other vendors demand it.
 */
export function readChatMessages(messages: unknown, report: ReadReport): { instructions: TextPart[]; turns: Turn[] } {
  const instructions: TextPart[] = [];
  const turns: Turn[] = [];
  const pictures = new OwnPictures();
  let results: ToolResultPart[] | null = null;
  for (const [message, i] of objectsOf(messages)) {
    const field = `messages[${i}]`;
    if (message.role !== "tool") results = null;
    if (message.name !== undefined && message.role !== "tool" && message.role !== "function") report.drop("messages[].name");
    switch (message.role) {
      case "system":
      case "developer": {
        const parts = textParts(message.content, `${field}.content`, report);
        if (turns.length === 0) instructions.push(...parts);
        else turns.push({ role: "system", parts });
        break;
      }
      case "assistant":
        turns.push({ role: "assistant", parts: [...assistantTexts(message), ...callsOf(message, field, i, report)] });
        for (const picture of ownPictures(message, field)) pictures.add(...picture);
        break;
      case "tool": {
        const result = toolResult(message, field, report);
        if (results === null) turns.push({ role: "user", parts: (results = [result]) });
        else results.push(result);
        break;
      }
      case "user":
        turns.push({ role: "user", parts: pictures.before(contentParts(message.content, `${field}.content`, report)) });
        break;
      default:
        report.refuse(
          `${field}.role`,
          message.role === "function" ? "is the older form of tool results: send them as `tool` messages" : "is not a role",
        );
    }
  }
  for (const field of pictures.left) report.drop(field);
  return { instructions, turns };
}

function callsOf(message: JsonObject, field: string, place: number, report: ReadReport) {
  if (objectOf(message.audio) !== null) report.refuse(`${field}.audio`, NOT_ELSEWHERE);
  if (objectOf(message.function_call) !== null)
    report.refuse(`${field}.function_call`, "is the older form of tool calls: send it in `tool_calls`");
  for (const [call, i] of objectsOf(message.tool_calls)) {
    if (objectOf(call.function) === null) report.refuse(`${field}.tool_calls[${i}]`, `${NOT_ELSEWHERE}: only function calls have one`);
  }
  return functionCalls(message, (i) => newCallId("messages", place, i));
}

function toolResult(message: JsonObject, field: string, report: ReadReport): ToolResultPart {
  const content: ToolResultPart["content"][number][] = [];
  contentParts(message.content, `${field}.content`, report).forEach((part, i) => {
    if (part.kind === "audio") report.refuse(`${field}.content[${i}]`, NOT_ELSEWHERE);
    else content.push(part);
  });
  return { kind: "tool_result", callId: filledOf(message.tool_call_id) ?? "", toolName: filledOf(message.name), content, isError: false };
}
