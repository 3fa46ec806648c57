import type { SelectQueryBuilder } from "kysely";

/** A page of a list, in rows. */
export interface Page {
  readonly limit: number;
  readonly offset: number;
}

export interface Paged<T> {
  readonly items: T[];
  /** Over all pages. */
  readonly total: number;
}

/** Counts the rows of a query that has selected nothing yet. */
export async function totalOf<Tables, Table extends keyof Tables>(query: SelectQueryBuilder<Tables, Table, object>): Promise<number> {
  const counted = await query.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
  // Kysely resolves selected columns only for named tables, not for a type parameter.
  return (counted as { readonly total: number }).total;
}

/** One page of `rows`, which is the query with its columns and order. */
export async function pageOfRows<Tables, Table extends keyof Tables, Row>(
  query: SelectQueryBuilder<Tables, Table, object>,
  rows: SelectQueryBuilder<Tables, Table, Row>,
  page: Page,
): Promise<Paged<Row>> {
  const items = await rows.limit(page.limit).offset(page.offset).execute();
  return { items, total: await totalOf(query) };
}

/** An ILIKE pattern that finds `text` literally anywhere. */
export function containing(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
}

/** The total over all pages if this page tells it by not being full; undefined if rows must be counted. */
export function knownTotal({ limit, offset }: Page, found: number): number | undefined {
  return found < limit && (found > 0 || offset === 0) ? offset + found : undefined;
}
