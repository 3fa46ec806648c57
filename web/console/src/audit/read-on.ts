/** Which page of a list that grows at its head is read: later ones only of what was there when the first was read. */
export interface PageOn {
  readonly page: number;
  readonly to?: string;
}

export const FIRST_PAGE: PageOn = { page: 1 };

/** The page after `last`. The bound is just after the newest of the first: a moment has microseconds, of which a `Date` knows nothing. */
export function pageAfter(last: PageOn, momentsOfFirst: readonly string[]): PageOn {
  const newest = Math.max(...momentsOfFirst.map((moment) => Date.parse(moment)));
  return { page: last.page + 1, to: last.to ?? new Date(newest + 1).toISOString() };
}

/** What came in late among the older ones moves the rest on by one, so that a page may begin with what the one before ended with. */
export function withoutRepeats<Row extends { readonly id?: string | null }>(rows: readonly Row[]): Row[] {
  return [...new Map(rows.map((row) => [row.id, row])).values()];
}
