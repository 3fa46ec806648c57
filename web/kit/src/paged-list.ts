/** As `useInfiniteQuery` gives it. */
export interface PagedList {
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  readonly isFetchNextPageError: boolean;
  fetchNextPage(): Promise<unknown>;
}

/** Of `useInfiniteQuery`, the page after one that the API answered; none after the last. */
export function nextPage({ page, page_size: size, total }: Readonly<Record<"page" | "page_size" | "total", number>>): number | undefined {
  return page * size < total ? page + 1 : undefined;
}

/** Reads the next page by itself. One that could not be read is read again when somebody asks for it. */
export function readOn(list: PagedList): void {
  if (list.hasNextPage && !list.isFetchingNextPage && !list.isFetchNextPageError) void list.fetchNextPage();
}
