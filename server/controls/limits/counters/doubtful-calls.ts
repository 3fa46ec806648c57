import type { CallTotal } from "../../../directory/limits/usage-truth.ts";

/** A process that is dead so long has no rows to show: what it counted and nobody recorded is given back. */
export const ROWS_WITHIN_MS = 40_000;

/** The reservation's subject: the call, or its attempt at one member of a routing group. */
export function partOf(row: CallTotal | undefined, id: string): Omit<CallTotal, "attempts"> | undefined {
  const [, attempt] = id.split("/");
  const part = attempt === undefined ? undefined : row?.attempts?.[Number(attempt)];
  return part === undefined ? row : { ...part, requests: 1 };
}

/** What is held at a member of a routing group has the call's id in front. */
export const callHeldFor = (id: string): string => id.slice(0, (id + "/").indexOf("/"));

/** What a call held again, or for attempts that had failed, beside what it was admitted with: all that it used is that one's. */
export const isHeldBeside = (id: string): boolean => /^[^/]+\/(again\/|held$)/.test(id);
