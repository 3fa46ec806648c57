import type { ReplyContext } from "../conversation/codec.ts";
import { pictureNote, type ReplyPart } from "../conversation/reply.ts";
import type { JsonObject, JsonValue } from "../../kernel/json-value.ts";
import { toolInput } from "./tool-input.ts";

/** A message as the official clients declare it; every member of its own that they declare is there. */
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

/** Without `citations`: the vendor leaves them out too where there are none, and some clients refuse a null. */
export function textBlock(text: string): JsonObject {
  return { type: "text", text };
}

/** `input` is whole in a message, and empty where a stream begins to fill it. */
export function toolUseBlock(id: string, name: string, input: JsonObject): JsonObject {
  return { type: "tool_use", id, name, input, caller: { type: "direct" } };
}

/** The block a part is in an answer; null for a part that shows nothing. Signatures of other vendors stay out. */
export function replyBlock(part: ReplyPart): JsonObject | null {
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
