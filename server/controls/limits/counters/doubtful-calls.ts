import type { CallTotal } from "../../../directory/limits/usage-truth.ts";

/** A process dead for longer has no more rows to come: what it counted without a row is given back. */
export const ROWS_WITHIN_MS = 40_000;

/** The part of the row that the reservation `id` belongs to: the whole call, or one attempt at a member of a routing group. */
export function partOf(row: CallTotal | undefined, id: string): Omit<CallTotal, "attempts"> | undefined {
  const [, attempt] = id.split("/");
  const part = attempt === undefined ? undefined : row?.attempts?.[Number(attempt)];
  return part === undefined ? row : { ...part, requests: 1 };
}

/** The call's ID: reservations made for attempts and extra holds append a suffix to it. */
export const callHeldFor = (id: string): string => id.slice(0, (id + "/").indexOf("/"));

/** Whether this is an additional hold, acquired again or for failed attempts; the usage belongs to the call's first reservation. */
export const isHeldBeside = (id: string): boolean => /^[^/]+\/(again\/|held$)/.test(id);
