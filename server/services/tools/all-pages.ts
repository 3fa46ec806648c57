import { isRefusal, type Refusal } from "../../kernel/errors.ts";
import type { JsonObject } from "../../wire/document.ts";
import { MAX_LISTED, MAX_PAGES, nextCursor } from "../../wire/mcp/paging.ts";

/** A page with the length of the message it came in. */
export interface ListPage {
  readonly result: JsonObject;
  readonly length: number;
}

/** The result of every page; a refusal or null (the server gave none) when not all could be had. `page` gives one. */
export async function allPages(
  page: (cursor: string | null, number: number) => Promise<ListPage | Refusal | null>,
): Promise<JsonObject[] | Refusal | null> {
  const results: JsonObject[] = [];
  let cursor: string | null = null;
  let listed = 0;
  while (results.length < MAX_PAGES && listed <= MAX_LISTED) {
    const had = await page(cursor, results.length);
    if (had === null || isRefusal(had)) return had;
    results.push(had.result);
    listed += had.length;
    cursor = nextCursor(had.result);
    if (cursor === null) return results;
  }
  return null;
}
