import type { AnswerTexts } from "../../wire/answer-texts.ts";
import { completionsAnswerTexts } from "../../wire/completions/completions-answer-texts.ts";
import type { ConversationFormat } from "../../wire/conversation/codec.ts";
import { geminiAnswerTexts } from "../../wire/gemini/gemini-answer-texts.ts";
import { messagesAnswerTexts } from "../../wire/messages/messages-answer-texts.ts";
import { chatAnswerTexts } from "../../wire/openai/chat-answer-texts.ts";
import { responsesAnswerTexts } from "../../wire/responses/responses-answer-texts.ts";
import type { OutputForm } from "../../wire/output-form.ts";
import type { Conversation } from "../conversation.ts";

/** How the answers of each format a caller may speak tell their texts. */
export const ANSWER_FORMATS: Readonly<Record<Exclude<ConversationFormat, "converse">, AnswerTexts>> = {
  chat: chatAnswerTexts,
  completions: completionsAnswerTexts,
  responses: responsesAnswerTexts,
  messages: messagesAnswerTexts,
  gemini: geminiAnswerTexts,
};

export function outputFormOf({ caller, writer }: Conversation): OutputForm {
  if (caller.format === "converse") throw new Error("no caller speaks converse");
  // Only the array in pieces has a writer of its own.
  return { texts: ANSWER_FORMATS[caller.format], framing: writer === null ? "events" : "array" };
}
