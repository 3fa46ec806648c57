import { isRefusal, type Refusal } from "../../kernel/errors.ts";
import type { JsonObject } from "../../wire/document.ts";
import { MAX_PAGES, nextCursor } from "../../wire/mcp/paging.ts";

/** The result of every page; a refusal or null (the server gave none) when not all could be had. `page` gives one. */
export async function allPages(
  page: (cursor: string | null, number: number) => Promise<{ readonly result: JsonObject } | Refusal | null>,
): Promise<JsonObject[] | Refusal | null> {
  const results: JsonObject[] = [];
  let cursor: string | null = null;
  while (results.length < MAX_PAGES) {
    const had = await page(cursor, results.length);
    if (had === null || isRefusal(had)) return had;
    results.push(had.result);
    cursor = nextCursor(had.result);
    if (cursor === null) return results;
  }
  return null;
}
