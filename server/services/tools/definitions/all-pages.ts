import { isRefusal, type Refusal } from "../../../kernel/errors.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import { MAX_LISTED, MAX_PAGES, nextCursor } from "../../../wire/mcp/paging.ts";

/** A page of a list with its JSON text. */
export interface ListPage {
  readonly result: JsonObject;
  readonly text: string;
}

/** Reads all pages of a list through `page`. Returns its refusal; null if the server has no such list or it exceeds the limits. */
export async function allPages(
  page: (cursor: string | null, number: number) => Promise<ListPage | Refusal | null>,
): Promise<ListPage[] | Refusal | null> {
  const pages: ListPage[] = [];
  let cursor: string | null = null;
  let listed = 0;
  while (pages.length < MAX_PAGES && listed <= MAX_LISTED) {
    const had = await page(cursor, pages.length);
    if (had === null || isRefusal(had)) return had;
    pages.push(had);
    listed += had.text.length;
    cursor = nextCursor(had.result);
    if (cursor === null) return pages;
  }
  return null;
}
