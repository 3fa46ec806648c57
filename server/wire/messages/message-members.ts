import type { ReplyContext } from "../conversation/codec.ts";
import { pictureNote, type ReplyPart } from "../conversation/reply.ts";
import type { JsonObject, JsonValue } from "../../kernel/json-value.ts";
import { citedPieces, writeMessagesCitation } from "./citations.ts";
import { toolInput } from "./tool-input.ts";

/** A message with every member that the official clients declare. */
export function message(id: string | null, context: ReplyContext, content: JsonValue[], stop: JsonObject, usage: JsonObject): JsonObject {
  return {
    id: id ?? `msg_${context.callId}`,
    type: "message",
    role: "assistant",
    model: context.model,
    content,
    ...stop,
    usage,
    container: null,
    diagnostics: null,
  };
}

export const NOT_STOPPED: JsonObject = { stop_reason: null, stop_sequence: null, stop_details: null };

/** Without `citations`: the vendor also omits them if there are none, and some clients refuse null. */
export function textBlock(text: string): JsonObject {
  return { type: "text", text };
}

/** `input` is complete in a message, and empty at the start of a streamed call. */
export function toolUseBlock(id: string, name: string, input: JsonObject): JsonObject {
  return { type: "tool_use", id, name, input, caller: { type: "direct" } };
}

/** The content blocks for a part: one for each passage with citations of its own. */
export function replyBlocks(part: ReplyPart): JsonObject[] {
  if (part.kind !== "text" || part.citations === undefined) return [replyBlock(part)].filter((block) => block !== null);
  const writable = part.citations.filter((citation) => writeMessagesCitation(citation) !== null);
  return citedPieces(part.text, writable).flatMap(({ text, citations }) => {
    const written = citations.map((citation) => writeMessagesCitation(citation)).filter((citation) => citation !== null);
    return text === "" ? [] : [written.length === 0 ? textBlock(text) : { type: "text", text, citations: written }];
  });
}

/** The content block for a part; null if it would be empty. Signatures of other vendors are left out. */
function replyBlock(part: ReplyPart): JsonObject | null {
  switch (part.kind) {
    case "text":
    case "refusal":
      return part.text === "" ? null : textBlock(part.text);
    case "reasoning": {
      const signature = part.signature?.family === "anthropic" ? part.signature.value : "";
      if (part.redacted) return signature === "" ? null : { type: "redacted_thinking", data: signature };
      return part.text === "" && signature === "" ? null : { type: "thinking", thinking: part.text, signature };
    }
    case "picture":
      return textBlock(pictureNote(part.mediaType));
    case "tool_call":
      return toolUseBlock(part.id, part.name, toolInput(part.arguments));
  }
}
