import { type Conversation, replyContext } from "../../road/request/conversation.ts";
import type { Awaited } from "../../road/surface.ts";
import { targetOfCall } from "../../services/models/routing/failover.ts";
import { readOpenAiFault, writeOpenAiFault } from "../../wire/openai/fault.ts";
import { replyObject } from "../../wire/openai/reply-object.ts";
import { COMMENT_LINE, lineJson } from "../../wire/streams/sse-data.ts";
import { EVENT_STREAM_HEADERS, UNBUFFERED } from "../../wire/streams/stream-headers.ts";

const encoder = new TextEncoder();

/** How a conversation's stream is sent while it waits for the provider. */
export function awaitedConversation(conversation: Conversation, headers: Readonly<Record<string, string>>): Awaited {
  const { caller, streamType } = conversation;
  return {
    headers: { ...headers, "x-gw-ai-generated": "true", "content-type": streamType, ...UNBUFFERED },
    said: COMMENT_LINE,
    asRest(answer, call) {
      if (answer.failure === null) return null;
      const fault = caller.readFault(answer.status, replyObject(answer.body));
      const writer = caller.streamWriter(replyContext(call, conversation, targetOfCall(call).model));
      return encoder.encode(writer.write({ kind: "fault", fault }));
    },
  };
}

/** For OpenAI's other streams. Whole answers of models that do not stream were converted to events. */
export const AWAITED_EVENTS: Awaited = {
  headers: EVENT_STREAM_HEADERS,
  said: COMMENT_LINE,
  asRest: ({ body, failure, status }) =>
    failure === null ? body : encoder.encode(`data: ${lineJson(writeOpenAiFault(readOpenAiFault(status, replyObject(body))))}\n\n`),
};
