import type { ModelEntry } from "../../directory/snapshot.ts";
import type { ConversationReply } from "../../wire/conversation/reply.ts";
import { eventsOfReply } from "../../wire/conversation/reply-events.ts";
import type { StreamCodec } from "../../wire/stream.ts";
import type { Usage } from "../../wire/usage.ts";
import type { Call } from "../call.ts";
import { type Conversation, replyContext } from "../routing/conversation.ts";
import type { Answer } from "../surface.ts";

const encoder = new TextEncoder();

/** No model was asked. */
const NOTHING: Usage = { inputUncached: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0, output: 0, reasoning: 0, estimated: false };

/** An answer given again in the caller's own format, whole or as a stream, whichever way it came about. */
export function replayed(call: Call, conversation: Conversation, reply: ConversationReply, model: ModelEntry): Answer {
  const context = replyContext(call, conversation, model);
  const { caller, inbound, writer: ownWriter } = conversation;
  if (!inbound.stream) {
    const body = encoder.encode(JSON.stringify(caller.writeReply(reply, context)));
    return { kind: "whole", status: 200, headers: { "content-type": "application/json" }, body, usage: NOTHING, failure: null };
  }
  const writer = ownWriter === null ? caller.streamWriter(context) : ownWriter(context);
  const head = eventsOfReply(reply)
    .map((event) => writer.write(event))
    .filter((text) => text !== "")
    .map((text) => encoder.encode(text));
  const last = encoder.encode(writer.close());
  const codec: StreamCodec = { push: (piece) => piece, end: () => ({ complete: true, last, told: false }), begun: true, usage: NOTHING, outputLength: 0, providerError: null };
  const headers = { "content-type": conversation.streamType, "cache-control": "no-cache", "x-accel-buffering": "no" };
  return { kind: "stream", status: 200, headers, upstream: nothingMore(), codec, head, inputCharacters: 0 };
}

function nothingMore(): ReadableStreamDefaultReader<Uint8Array> {
  return new ReadableStream<Uint8Array>({ start: (controller) => controller.close() }).getReader();
}
