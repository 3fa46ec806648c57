/** Cursor for a list that grows at its head: later pages are bounded by what existed when the first page was read. */
export interface PageOn {
  readonly page: number;
  readonly to?: string;
}

export const FIRST_PAGE: PageOn = { page: 1 };

/** The page after `last`. The bound is just after the newest item of the first page: timestamps have microseconds, which `Date` drops. */
export function pageAfter(last: PageOn, momentsOfFirst: readonly string[]): PageOn {
  const newest = Math.max(...momentsOfFirst.map((moment) => Date.parse(moment)));
  return { page: last.page + 1, to: last.to ?? new Date(newest + 1).toISOString() };
}

/** Rows that arrive late shift the pages, so a page may begin with the rows that ended the previous one. */
export function withoutRepeats<Row extends { readonly id?: string | null }>(rows: readonly Row[]): Row[] {
  return [...new Map(rows.map((row) => [row.id, row])).values()];
}
