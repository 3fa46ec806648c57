import { momentOf } from "./moments.ts";

/** Outcomes of a call or its guardrails, with the field values that identify them. */
const OUTCOMES = {
  ok: { success: true },
  refused: { success: false },
  blocked: { guardrail_action: "block" },
  redacted: { guardrail_action: "redact" },
  warned: { guardrail_action: "warn" },
} as const;
type Outcome = keyof typeof OUTCOMES;

/** Search parameters in the URL of the audit explorer: the filters, and the open row. */
export interface ExplorerSearch {
  readonly q?: string;
  readonly type?: string;
  readonly outcome?: Outcome;
  /** ISO 8601 timestamps. */
  readonly from?: string;
  readonly to?: string;
  /** Values that fields of the row must have. */
  readonly where?: Readonly<Record<string, string>>;
  readonly row?: string;
}

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

function fieldValues(value: unknown): Readonly<Record<string, string>> | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const known = Object.entries(value).filter(([name, one]) => /^[a-z_0-9]+$/.test(name) && text(one) !== undefined);
  return known.length === 0 ? undefined : Object.fromEntries(known);
}

export function rowSearchOf(given: Record<string, unknown>): ExplorerSearch {
  const outcome = (Object.keys(OUTCOMES) as Outcome[]).find((one) => one === given["outcome"]);
  const members = {
    q: text(given["q"]),
    type: text(given["type"]),
    outcome,
    from: momentOf(given["from"]),
    to: momentOf(given["to"]),
    where: fieldValues(given["where"]),
    row: text(given["row"]),
  };
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** The query parameters of the ledger query. */
export function rowQueryOf({ q, type, outcome, from, to, where }: ExplorerSearch) {
  return {
    ...(q === undefined ? {} : { q }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    filters: { ...where, ...(type === undefined ? {} : { proxy_type: type }), ...(outcome === undefined ? {} : OUTCOMES[outcome]) },
  };
}
