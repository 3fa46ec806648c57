import type { OutputForm } from "../../wire/output-form.ts";
import type { Conversation } from "../conversation.ts";

export function outputFormOf({ caller, writer }: Conversation): OutputForm {
  // Only the array in pieces has a writer of its own.
  return { texts: caller.answerTexts, framing: writer === null ? "events" : "array" };
}
