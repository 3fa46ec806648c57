import type { JsonObject } from "../../kernel/json-value.ts";

/** A list with more pages is treated as failed, because the caller would not get all of it. */
export const MAX_PAGES = 500;
/** Maximum characters of all pages together, as for a single answer. */
export const MAX_LISTED = 64 * 1024 * 1024;

/** The cursor of the next page; null at the end, which some servers mark with an empty string. */
export function nextCursor({ nextCursor: cursor }: JsonObject): string | null {
  return typeof cursor === "string" && cursor !== "" ? cursor : null;
}
