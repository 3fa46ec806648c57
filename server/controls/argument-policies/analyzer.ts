import type { DenyIf } from "./argument-policy.ts";

/** What an analyzer found in one value: every condition that holds, or why the value could not be read. */
export interface AnalyzerResult {
  /** Why the value could not be read, as a sentence; null when it was. */
  readonly unparseable: string | null;
  /**
   * Whether the rule's condition holds. `values` are the rule's own. Conditions of a value that could not be read may be unknown: then
   * false.
   */
  holds(denyIf: DenyIf, values: readonly string[]): boolean;
}

/** Reads one argument value. Pure; `prepare` loads what it needs, once, and `inspect` finds nothing readable before that. */
export interface Analyzer {
  prepare(): Promise<void>;
  inspect(value: unknown): AnalyzerResult;
}

/** A judgement of one value under a policy's rules. */
export interface RuleVerdict {
  readonly denied: null | { readonly rule: DenyIf; readonly message: string };
}

export function unreadable(why: string, holds: AnalyzerResult["holds"] = () => false): AnalyzerResult {
  return { unparseable: why, holds };
}

export const NOTHING_TO_PREPARE = (): Promise<void> => Promise.resolve();
