import { OwnPictures } from "../../conversation/own-pictures.ts";
import type { Turn } from "../../conversation/request.ts";
import type { TextPart, ToolResultPart } from "../../conversation/conversation-parts.ts";
import { assistantTexts, ownPictures, unreadPieces } from "./assistant-reader.ts";
import { contentParts, textParts } from "./content-reader.ts";
import { chatToolCalls, chatToolResult } from "./tool-turns.ts";
import { objectsOf } from "../loose-fields.ts";
import type { ReadReport } from "../read-report.ts";

const COMMON: ReadonlySet<string> = new Set(["role", "content", "name"]);
/** The members read of a message, by its role. */
const MEMBERS: ReadonlyMap<unknown, ReadonlySet<string>> = new Map([
  ["assistant", new Set([...COMMON, "tool_calls", "function_call", "audio", "refusal", "reasoning_content", "reasoning", "images"])],
  ["tool", new Set([...COMMON, "tool_call_id"])],
]);

/**
 * Reads a chat's messages into turns. System messages before all others become instructions; the results of parallel calls
 * form a single user turn, because other vendors require it.
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
    report.dropOthers(message, MEMBERS.get(message.role) ?? COMMON, "messages[].");
    switch (message.role) {
      case "system":
      case "developer": {
        const parts = textParts(message.content, `${field}.content`, report);
        if (turns.length === 0) instructions.push(...parts);
        else turns.push({ role: "system", parts });
        break;
      }
      case "assistant":
        turns.push({ role: "assistant", parts: [...assistantTexts(message), ...chatToolCalls(message, field, i, report)] });
        for (const part of unreadPieces(message.content)) report.drop(`${field}.content[${part}]`);
        for (const picture of ownPictures(message, field)) pictures.add(...picture);
        break;
      case "tool": {
        const result = chatToolResult(message, field, report);
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
