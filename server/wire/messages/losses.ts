import type { FieldProblem } from "../json/document.ts";

/** What a request reader found that no other format can express. */
export interface MessagesReadReport {
  readonly dropped: Set<string>;
  readonly unsupported: FieldProblem[];
}

/** Whether a member has no effect, so that nothing is lost without it. */
export const isNothing = (value: unknown): boolean => value === null || value === undefined || (Array.isArray(value) && value.length === 0);
