import type { ConversationReply } from "../../../wire/conversation/reply.ts";
import { replyOfEvents } from "../../../wire/conversation/reply-events.ts";
import { readPieces, readWhole } from "../../../road/answers/caller-answer.ts";
import { KeptStream } from "../../../road/answers/kept-stream.ts";
import type { Conversation } from "../../../road/conversation.ts";
import type { Answer, WholeAnswer } from "../../../road/answer.ts";

/** An answer longer than this passes without being kept. */
const MOST_BYTES = 512 * 1024;

/** An answer on its way to the caller, and what can be read of it once it has ended. */
export interface Passing {
  readonly answer: Answer;
  /** Null when it cannot be given again: it is too long or cannot be read, or its provider did not tell its usage. */
  reply(): ConversationReply | null;
}

export function passing(conversation: Conversation, answer: Answer): Passing {
  if (answer.kind === "whole") return { answer, reply: () => wholeReply(conversation, answer) };
  const kept = new KeptStream(answer, MOST_BYTES);
  return { answer: { ...answer, codec: kept }, reply: () => streamedReply(conversation, kept) };
}

function wholeReply(conversation: Conversation, { failure, usage, body }: WholeAnswer): ConversationReply | null {
  if (failure !== null || usage === null || usage.estimated || body.byteLength > MOST_BYTES) return null;
  const reply = readWhole(conversation, body);
  return reply === null ? null : { ...reply, usage: reply.usage ?? usage };
}

function streamedReply(conversation: Conversation, { pieces, usage }: KeptStream): ConversationReply | null {
  if (pieces === null || usage === null || usage.estimated) return null;
  const { events, complete } = readPieces(conversation, pieces);
  const reply = complete ? replyOfEvents(events) : null;
  // Usage is hidden from a caller who did not ask for it, and known all the same.
  return reply === null ? null : { ...reply, usage: reply.usage ?? usage };
}
