import type { FieldProblem } from "../json/document.ts";

/** What a reading of a request found that no other format can say. */
export interface MessagesReadReport {
  readonly dropped: Set<string>;
  readonly unsupported: FieldProblem[];
}

/** Whether a member says nothing, so that nothing is lost without it. */
export const isNothing = (value: unknown): boolean => value === null || value === undefined || (Array.isArray(value) && value.length === 0);
