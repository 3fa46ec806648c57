import type { PageQuery } from "@gatehouse/contracts/conventions";
import { refuse, Refused } from "../../kernel/errors.ts";

const DEFAULT_SIZE = 50;

/** The rows a list query asks for, by page or by offset; mixing the two is refused. */
export function pageOf(query: PageQuery): { limit: number; offset: number } {
  const byPage = query.page !== undefined || query.page_size !== undefined;
  const byOffset = query.limit !== undefined || query.offset !== undefined;
  if (byPage && byOffset) {
    const field = query.limit === undefined ? "offset" : "limit";
    throw new Refused(
      refuse("invalid_query", "Send page and page_size, or limit and offset.", {
        fields: [{ field, message: "does not go with page and page_size" }],
      }),
    );
  }
  const limit = query.page_size ?? query.limit ?? DEFAULT_SIZE;
  return { limit, offset: query.offset ?? ((query.page ?? 1) - 1) * limit };
}

/** `{<key>: items, total, page, page_size}`. */
export function listAnswer<T>(
  key: string,
  found: { items: T[]; total: number },
  page: { limit: number; offset: number },
): Record<string, unknown> {
  return { [key]: found.items, total: found.total, page: Math.floor(page.offset / page.limit) + 1, page_size: page.limit };
}
