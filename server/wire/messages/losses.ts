import type { FieldProblem } from "../document.ts";

/** What a reading of a request found that no other format can say. */
export interface MessagesReadReport {
  readonly dropped: Set<string>;
  readonly unsupported: FieldProblem[];
}
