/** The part of `useInfiniteQuery`'s result that is needed. */
export interface PagedList {
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  readonly isFetchNextPageError: boolean;
  fetchNextPage(): Promise<unknown>;
}

/** `getNextPageParam` of `useInfiniteQuery`: the number of the next page; undefined after the last. */
export function nextPage({ page, page_size: size, total }: Readonly<Record<"page" | "page_size" | "total", number>>): number | undefined {
  return page * size < total ? page + 1 : undefined;
}

/** Loads the next page automatically, except after an error: then only when the reader asks. */
export function readOn(list: PagedList): void {
  if (list.hasNextPage && !list.isFetchingNextPage && !list.isFetchNextPageError) void list.fetchNextPage();
}
