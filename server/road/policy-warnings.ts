import type { Call } from "./call.ts";

/** Names the policies and guardrails that warned of a call to its caller, URI-encoded, with commas between them. */
const WARNINGS = "x-gw-policy-warnings";

/** Once for each name, however often it warned. What warns after an answer has begun to leave reaches the row alone. */
export function warnCaller({ answerHeaders }: Pick<Call, "answerHeaders">, name: string): void {
  const told = answerHeaders[WARNINGS];
  const encoded = encodeURIComponent(name.toWellFormed());
  if (told === undefined) answerHeaders[WARNINGS] = encoded;
  else if (!told.split(", ").includes(encoded)) answerHeaders[WARNINGS] = `${told}, ${encoded}`;
}
