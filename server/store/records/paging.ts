import type { SelectQueryBuilder } from "kysely";

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

/** How many rows the query finds; it has selected nothing yet. */
export async function totalOf<Tables, Table extends keyof Tables>(query: SelectQueryBuilder<Tables, Table, object>): Promise<number> {
  const counted = await query.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
  // Kysely resolves what is selected of named tables, not of a type parameter.
  return (counted as { readonly total: number }).total;
}

/** One page of `rows`: the query with what it selects and in which order. */
export async function pageOfRows<Tables, Table extends keyof Tables, Row>(
  query: SelectQueryBuilder<Tables, Table, object>,
  rows: SelectQueryBuilder<Tables, Table, Row>,
  page: Page,
): Promise<Paged<Row>> {
  const items = await rows.limit(page.limit).offset(page.offset).execute();
  return { items, total: await totalOf(query) };
}

/** An ILIKE pattern that finds `text` anywhere, taken literally. */
export function containing(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
}

/** How many there are over all pages, where a page that is not full tells it; undefined: they have to be counted. */
export function knownTotal({ limit, offset }: Page, found: number): number | undefined {
  return found < limit && (found > 0 || offset === 0) ? offset + found : undefined;
}
