import { sha256Hex } from "../../kernel/secrets.ts";

/**
 * The id of a tool call whose sender gave none: always the same for the same place. `place` should name the answer too,
 * so that two answers of one conversation do not share ids.
 */
export function newCallId(...place: readonly (string | number | null)[]): string {
  return `call_${sha256Hex(JSON.stringify(place)).slice(0, 24)}`;
}

/** The id for a vendor that refuses longer ones: the same for a call and its result. */
export function callIdWithin(longest: number, id: string): string {
  return id.length <= longest ? id : newCallId(id);
}
