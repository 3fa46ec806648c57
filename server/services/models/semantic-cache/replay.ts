import type { ModelEntry } from "../../../directory/snapshot.ts";
import type { ConversationReply } from "../../../wire/conversation/reply.ts";
import type { Usage } from "../../../wire/usage.ts";
import { replyStream } from "../../../road/answers/reply-stream.ts";
import type { Call } from "../../../road/call.ts";
import { type Conversation, noteReferable, replyContext } from "../../../road/request/conversation.ts";
import type { Answer } from "../../../road/answer.ts";

const encoder = new TextEncoder();

/** The usage of a replay: no model was asked. */
const NOTHING: Usage = { inputUncached: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0, output: 0, reasoning: 0, estimated: false };

/** Replays an answer in the caller's format, whole or as a stream, however it was first given. */
export function replayed(call: Call, conversation: Conversation, reply: ConversationReply, model: ModelEntry): Answer {
  if (!conversation.inbound.stream) {
    const { caller, inbound } = conversation;
    const written = caller.writeReply(reply, replyContext(call, conversation, model));
    noteReferable(conversation, caller.referable?.(written, inbound.body));
    const body = encoder.encode(JSON.stringify(written));
    return { kind: "whole", status: 200, headers: { "content-type": "application/json" }, body, usage: NOTHING, failure: null };
  }
  return replyStream(call, conversation, reply, model, NOTHING);
}
