import { sha256Hex } from "../../kernel/secrets.ts";

/**
 * An ID for a tool call without one, derived from its position. `place` should include the answer's ID, so that two
 * answers of one conversation do not share call IDs.
 */
export function newCallId(...place: readonly (string | number | null)[]): string {
  return `call_${sha256Hex(JSON.stringify(place)).slice(0, 24)}`;
}

/** The ID for a vendor that limits its length; equal for a call and its result. */
export function callIdWithin(longest: number, id: string): string {
  return id.length <= longest ? id : newCallId(id);
}
