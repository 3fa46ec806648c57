import type { Call } from "../call.ts";

/** Header naming the policies and guardrails that warned about a call: URI-encoded, comma-separated. */
const WARNINGS = "x-gw-policy-warnings";

/** Adds each name once. Warnings raised after the answer's headers were sent appear only on the row. */
export function warnCaller({ answerHeaders }: Pick<Call, "answerHeaders">, name: string): void {
  const listedBefore = answerHeaders[WARNINGS];
  const encoded = encodeURIComponent(name.toWellFormed());
  if (listedBefore === undefined) answerHeaders[WARNINGS] = encoded;
  else if (!listedBefore.split(", ").includes(encoded)) answerHeaders[WARNINGS] = `${listedBefore}, ${encoded}`;
}
