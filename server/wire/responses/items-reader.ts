import { OwnPictures } from "../conversation/own-pictures.ts";
import type { Turn } from "../conversation/request.ts";
import type { AssistantPart, TextPart, ToolResultPart } from "../conversation/conversation-parts.ts";
import type { JsonObject } from "../document.ts";
import { newCallId } from "../openai/call-id.ts";
import { filledOf, objectsOf } from "../openai/loose-fields.ts";
import { NOT_ELSEWHERE, type ReadReport } from "../openai/read-report.ts";
import { inputParts } from "./content-reader.ts";
import { callPart, messageParts, picturePart, reasoningPart } from "./output-item-reader.ts";
import { isMessage } from "./responses-request.ts";

/**
 * The input of a response as turns. Items of the assistant that follow each other are one turn, and so are the results
 * of calls made together. System messages before all turns are instructions.
 */
export function readItems(input: unknown, report: ReadReport): { instructions: TextPart[]; turns: Turn[] } {
  if (typeof input === "string")
    return { instructions: [], turns: [{ role: "user", parts: input === "" ? [] : [{ kind: "text", text: input }] }] };
  const instructions: TextPart[] = [];
  const turns: Turn[] = [];
  const pictures = new OwnPictures();
  let assistant: AssistantPart[] | null = null;
  let results: ToolResultPart[] | null = null;
  const say = (parts: readonly (AssistantPart | null)[]) => {
    results = null;
    if (assistant === null) turns.push({ role: "assistant", parts: (assistant = []) });
    for (const part of parts) if (part !== null) assistant.push(part);
  };
  for (const [item, i] of objectsOf(input)) {
    const field = `input[${i}]`;
    if (isMessage(item) && item.role === "assistant") say(messageParts(item.content));
    else if (item.type === "reasoning") say([reasoningPart(item)]);
    else if (item.type === "function_call") say([callPart(item, () => newCallId("input", i))]);
    else if (item.type === "function_call_output") {
      assistant = null;
      const result = toolResult(item, field, report);
      if (results === null) turns.push({ role: "user", parts: (results = [result]) });
      else (results as ToolResultPart[]).push(result);
    } else if (isMessage(item)) {
      assistant = null;
      results = null;
      const parts = inputParts(item.content, `${field}.content`, report);
      if (item.role === "user") turns.push({ role: "user", parts: pictures.before(parts) });
      else if (item.role !== "system" && item.role !== "developer") report.refuse(`${field}.role`, "is not a role");
      else {
        const texts = parts.filter((part) => part.kind === "text");
        if (texts.length < parts.length) report.refuse(`${field}.content`, "must be texts here");
        if (turns.length === 0) instructions.push(...texts);
        else turns.push({ role: "system", parts: texts });
      }
    } else if (item.type === "image_generation_call") {
      const made = picturePart(item);
      if (made === null) report.drop(field);
      else pictures.add({ kind: "image", source: { base64: made.base64 }, mediaType: made.mediaType }, field);
    } else if (item.type === "item_reference") report.drop(field);
    else report.refuse(field, `${NOT_ELSEWHERE}: an item of type ${JSON.stringify(item.type)}`);
  }
  for (const field of pictures.left) report.drop(field);
  return { instructions, turns };
}

function toolResult(item: JsonObject, field: string, report: ReadReport): ToolResultPart {
  return {
    kind: "tool_result",
    callId: filledOf(item.call_id) ?? "",
    toolName: null,
    content: inputParts(item.output, `${field}.output`, report),
    isError: false,
  };
}
