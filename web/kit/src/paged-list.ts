/** As `useInfiniteQuery` gives it. */
export interface PagedList {
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  readonly isFetchNextPageError: boolean;
  fetchNextPage(): Promise<unknown>;
}

/** Reads the next page by itself. One that could not be read is read again when somebody asks for it. */
export function readOn(list: PagedList): void {
  if (list.hasNextPage && !list.isFetchingNextPage && !list.isFetchNextPageError) void list.fetchNextPage();
}
