import { type Refusal, refuse } from "../../kernel/errors.ts";
import type { Answer } from "../../road/answer.ts";
import { Malformed } from "../../wire/a2a/shapes.ts";

/** Runs a writer and adds headers to its answer. Returns a refusal if the caller's dialect cannot express the result. */
export function writeAnswer(write: () => Answer, headers: Readonly<Record<string, string>> = {}): Answer | Refusal {
  try {
    const answer = write();
    return { ...answer, headers: { ...answer.headers, ...headers } };
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    return refuse("agent_content_type_not_supported", `The agent's answer cannot be said in the caller's dialect: ${error.message}.`);
  }
}
