import type { ConversationReply } from "../conversation/reply.ts";
import type { JsonObject, JsonValue } from "../../kernel/json-value.ts";
import { readChatAnswer as readChatReply } from "../openai/chat/reply-reader.ts";
import { ChatStreamReader } from "../openai/chat/stream-reader.ts";
import { objectsOf, stringOf } from "../openai/loose-fields.ts";

/** Reads a complete answer; null if it is not a completion. */
export function readCompletionsAnswer(body: JsonObject): ConversationReply | null {
  return Array.isArray(body.choices) ? readChatReply({ ...body, choices: asChat(body.choices, "message") }) : null;
}

/** Reads a streamed completion as a chat stream whose deltas are plain strings. */
export class CompletionsStreamReader extends ChatStreamReader {
  protected override read(chunk: JsonObject): void {
    super.read(Array.isArray(chunk.choices) ? { ...chunk, choices: asChat(chunk.choices, "delta") } : chunk);
  }
}

function asChat(choices: JsonValue[], holder: "message" | "delta"): JsonValue[] {
  return objectsOf(choices).map(([choice, place]) => ({
    index: choice.index ?? place,
    finish_reason: choice.finish_reason ?? null,
    [holder]: { role: "assistant", content: stringOf(choice.text) ?? "" },
  }));
}
