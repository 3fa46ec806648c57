import type { OutputForm } from "../../wire/output-form.ts";
import type { Conversation } from "../conversation.ts";

interface Answered {
  readonly conversation?: Conversation;
  readonly output?: OutputForm;
}

/** How the answer to an exchange tells its texts; null where no model says anything in it. */
export function outputFormOfExchange({ conversation, output }: Answered): OutputForm | null {
  return conversation === undefined ? (output ?? null) : outputFormOf(conversation);
}

/** The same where a model's tool calls may stand in it; null where none can. */
export function callFormOfExchange({ conversation, output }: Answered): OutputForm | null {
  return conversation === undefined ? (output?.tellsCalls === true ? output : null) : outputFormOf(conversation);
}

export function outputFormOf({ caller, writer }: Conversation): OutputForm {
  // Only the array in pieces has a writer of its own.
  return { texts: caller.answerTexts, framing: writer === null ? "events" : "array" };
}
