import type { JsonObject } from "../../kernel/json-value.ts";
import type { FieldProblem } from "../json/document.ts";

/** What a request reader found that no other format can express. */
export interface MessagesReadReport {
  readonly dropped: Set<string>;
  readonly unsupported: FieldProblem[];
}

/** Drops members that are not read and have an effect; `prefix` is the path of the object. */
export function dropOthers(object: JsonObject, known: ReadonlySet<string>, prefix: string, { dropped }: MessagesReadReport): void {
  for (const [name, value] of Object.entries(object)) if (!known.has(name) && !isNothing(value)) dropped.add(`${prefix}${name}`);
}

/** Whether a member has no effect, so that nothing is lost without it. */
export const isNothing = (value: unknown): boolean => value === null || value === undefined || (Array.isArray(value) && value.length === 0);
