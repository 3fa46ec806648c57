import type { AnswerTexts } from "./texts/answer-texts.ts";

/** How an answer to a conversation tells its contents. */
export interface OutputForm {
  readonly texts: AnswerTexts;
  /** How a streamed answer is cut: server-sent events, or one JSON array in pieces. */
  readonly framing: "events" | "array";
  /** Where it is the answer to no conversation: whether a model's tool calls may stand in it. */
  readonly tellsCalls?: true;
}
