/** One page of a list, in rows. */
export interface Page {
  readonly limit: number;
  readonly offset: number;
}

export interface Paged<T> {
  readonly items: T[];
  /** Over all pages. */
  readonly total: number;
}

/** An ILIKE pattern that finds `text` anywhere, taken literally. */
export function containing(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
}

/** How many there are over all pages, where a page that is not full tells it; undefined: they have to be counted. */
export function knownTotal({ limit, offset }: Page, found: number): number | undefined {
  return found < limit && (found > 0 || offset === 0) ? offset + found : undefined;
}
