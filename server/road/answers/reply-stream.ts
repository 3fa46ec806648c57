import type { ModelEntry } from "../../directory/snapshot.ts";
import type { ConversationReply } from "../../wire/conversation/reply.ts";
import { eventsOfReply } from "../../wire/conversation/reply-events.ts";
import type { StreamCodec } from "../../wire/streams/stream.ts";
import type { Usage } from "../../wire/usage.ts";
import type { Call } from "../call.ts";
import { type Conversation, noteReferable, replyContext } from "../request/conversation.ts";
import type { StreamAnswer } from "../answer.ts";
import { UNBUFFERED } from "../../wire/streams/stream-headers.ts";

const encoder = new TextEncoder();

/** A whole answer sent as a stream in the caller's format. It is metered as `usage`, whatever usage the stream itself reports. */
export function replyStream(
  call: Call,
  conversation: Conversation,
  reply: ConversationReply,
  model: ModelEntry,
  usage: Usage,
): StreamAnswer {
  const context = replyContext(call, conversation, model);
  const { caller, streamType, writer: ownWriter } = conversation;
  const writer = ownWriter === null ? caller.streamWriter(context) : ownWriter(context);
  const head = eventsOfReply(reply)
    .map((event) => writer.write(event))
    .filter((text) => text !== "")
    .map((text) => encoder.encode(text));
  const last = encoder.encode(writer.close());
  noteReferable(conversation, writer.referable?.());
  const codec: StreamCodec = {
    push: (piece) => piece,
    end: () => ({ complete: true, last, errorReported: false }),
    begun: true,
    usage,
    outputLength: 0,
    providerError: null,
  };
  const headers = { "content-type": streamType, ...UNBUFFERED };
  return { kind: "stream", status: 200, headers, upstream: nothingMore(), codec, head, inputCharacters: 0 };
}

function nothingMore(): StreamAnswer["upstream"] {
  return new ReadableStream<Uint8Array>({ start: (controller) => controller.close() }).getReader();
}
