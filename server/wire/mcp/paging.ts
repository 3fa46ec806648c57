import type { JsonObject } from "../../kernel/json-value.ts";

/** A list that goes on for longer is not followed: whoever asks for it whole did not get it. */
export const MAX_PAGES = 500;
/** Characters of all its pages together, likewise: the largest that one answer may be. */
export const MAX_LISTED = 64 * 1024 * 1024;

/** Where a list goes on; null where it ends, which some servers say with an empty text. */
export function nextCursor({ nextCursor: cursor }: JsonObject): string | null {
  return typeof cursor === "string" && cursor !== "" ? cursor : null;
}
