import type { AnswerTexts } from "./texts/answer-texts.ts";

/** Describes the contents of an answer. */
export interface OutputForm {
  readonly texts: AnswerTexts;
  /** How a streamed answer is framed: as server-sent events, or as one JSON array. */
  readonly framing: "events" | "array";
  /** Whether an answer that is not part of a conversation may contain tool calls. */
  readonly tellsCalls?: true;
}
