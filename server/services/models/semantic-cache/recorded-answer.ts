import type { ConversationReply } from "../../../wire/conversation/reply.ts";
import { replyOfEvents } from "../../../wire/conversation/reply-events.ts";
import { readPieces, readWhole } from "../../../road/answers/caller-answer.ts";
import { RecordedStream } from "../../../road/answers/recorded-stream.ts";
import type { Conversation } from "../../../road/request/conversation.ts";
import type { Answer, WholeAnswer } from "../../../road/answer.ts";

/** Longer answers are not stored. */
const MAX_BYTES = 512 * 1024;
/** Sources, audio and errors beside the text, which the cache does not store. Within a text the quotes would be escaped. */
const BESIDE_THE_TEXTS =
  /"(?:annotations?|citations?|search_results|groundingMetadata|citationMetadata|audio|error)"\s*:\s*(?:\[\s*[^\]\s]|\{\s*[^}\s])/;

/** Records an answer while it is sent to the caller, to be stored once it has ended. */
export interface RecordedAnswer {
  readonly answer: Answer;
  /**
   * Null if the answer cannot be replayed: it is too long, unreadable or has parts that are not stored, or the provider reported no usage.
   */
  reply(): ConversationReply | null;
}

export function recordAnswer(conversation: Conversation, answer: Answer): RecordedAnswer {
  if (answer.kind === "whole") return { answer, reply: () => wholeReply(conversation, answer) };
  const kept = new RecordedStream(answer, MAX_BYTES);
  return { answer: { ...answer, codec: kept }, reply: () => streamedReply(conversation, kept) };
}

function wholeReply(conversation: Conversation, { failure, usage, body }: WholeAnswer): ConversationReply | null {
  if (failure !== null || usage === null || usage.estimated || body.byteLength > MAX_BYTES || hasMoreThanTexts(body)) return null;
  const reply = readWhole(conversation, body);
  return reply === null ? null : { ...reply, usage: reply.usage ?? usage };
}

function streamedReply(conversation: Conversation, { pieces, usage }: RecordedStream): ConversationReply | null {
  if (pieces === null || usage === null || usage.estimated || hasMoreThanTexts(Buffer.concat(pieces))) return null;
  const { events, complete } = readPieces(conversation, pieces);
  const reply = complete ? replyOfEvents(events) : null;
  // The stream hides usage from a caller who did not ask for it, but it is known here.
  return reply === null ? null : { ...reply, usage: reply.usage ?? usage };
}

function hasMoreThanTexts(body: Uint8Array): boolean {
  return BESIDE_THE_TEXTS.test(new TextDecoder().decode(body));
}
