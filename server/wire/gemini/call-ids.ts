import { createHash } from "node:crypto";

/** An ID for a tool call without one, derived from its position, so that reading a history again gives the same IDs. */
export function newGeminiCallId(...place: readonly (string | number)[]): string {
  const digest = createHash("sha256").update(JSON.stringify(place)).digest("hex");
  return `call_${digest.slice(0, 24)}`;
}
