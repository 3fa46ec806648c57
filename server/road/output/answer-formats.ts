import type { OutputForm } from "../../wire/output-form.ts";
import type { Conversation } from "../request/conversation.ts";

interface Answered {
  readonly conversation?: Conversation;
  readonly output?: OutputForm;
}

/** How the answer of an exchange encodes its texts; null if no model produces it. */
export function outputFormOfExchange({ conversation, output }: Answered): OutputForm | null {
  return conversation === undefined ? (output ?? null) : outputFormOf(conversation);
}

/** The same for answers that may contain a model's tool calls; null for others. */
export function callFormOfExchange({ conversation, output }: Answered): OutputForm | null {
  return conversation === undefined ? (output?.tellsCalls === true ? output : null) : outputFormOf(conversation);
}

export function outputFormOf({ caller, writer }: Conversation): OutputForm {
  // Only the streamed JSON array has a writer of its own.
  return { texts: caller.answerTexts, framing: writer === null ? "events" : "array" };
}
