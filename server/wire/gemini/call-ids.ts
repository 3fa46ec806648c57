import { createHash } from "node:crypto";

/**
 * An id for a tool call the provider gave none: the same for the same place, different for different places, so that a
 * history read again tells the same ids.
 */
export function newGeminiCallId(...place: readonly (string | number)[]): string {
  const digest = createHash("sha256").update(JSON.stringify(place)).digest("hex");
  return `call_${digest.slice(0, 24)}`;
}
