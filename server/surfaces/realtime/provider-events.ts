import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { objectOf, objectsOf } from "../../wire/openai/loose-fields.ts";

/** Events apart from responses that clients are told; any other is dropped, because no control would see it. */
export const TOLD: ReadonlySet<string> = new Set([
  "session.created",
  "session.updated",
  "conversation.item.added",
  "conversation.item.created",
  "conversation.item.done",
  "conversation.item.deleted",
  "conversation.item.truncated",
  "rate_limits.updated",
  "input_audio_buffer.speech_started",
  "input_audio_buffer.speech_stopped",
  "input_audio_buffer.committed",
  "input_audio_buffer.cleared",
]);

/** A finished item may repeat its audio, which is kept aside. */
export function withoutAudio(event: JsonObject): JsonObject {
  const items = [objectOf(event.item), ...objectsOf(objectOf(event.response)?.output).map(([item]) => item)];
  const parts = [event.part, ...items.flatMap((item) => (Array.isArray(item?.content) ? item.content : []))];
  for (const part of parts) if (isObject(part)) delete part.audio;
  return event;
}
