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
