/** What the address of the audit explorer says: what is looked for, and the row that is open. */
export interface ExplorerSearch {
  readonly q?: string;
  readonly type?: string;
  readonly outcome?: "ok" | "refused";
  readonly row?: string;
}

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

export function rowSearchOf(given: Record<string, unknown>): ExplorerSearch {
  const [q, type, row] = [text(given["q"]), text(given["type"]), text(given["row"])];
  const outcome = given["outcome"] === "ok" || given["outcome"] === "refused" ? given["outcome"] : undefined;
  return {
    ...(q === undefined ? {} : { q }),
    ...(type === undefined ? {} : { type }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(row === undefined ? {} : { row }),
  };
}

/** The filters of the query that the search stands for. */
export function filtersOf({ type, outcome }: ExplorerSearch): Record<string, unknown> {
  return { ...(type === undefined ? {} : { proxy_type: type }), ...(outcome === undefined ? {} : { success: outcome === "ok" }) };
}
