import type { DenyIf } from "./argument-policy.ts";

/** What an analyzer found in one value: which conditions hold, or why the value could not be read. */
export interface AnalyzerResult {
  /** Why the value could not be read, as a sentence; null if it was. */
  readonly unparseable: string | null;
  /** Whether the rule's condition holds, given the rule's `values`. False also if unknown because the value could not be read. */
  holds(denyIf: DenyIf, values: readonly string[]): boolean;
}

/** Reads one argument value. Pure; `prepare` loads dependencies once, and until then `inspect` reports every value as unreadable. */
export interface Analyzer {
  prepare(): Promise<void>;
  inspect(value: unknown): AnalyzerResult;
}

/** The verdict on one value under a policy's rules. */
export interface RuleVerdict {
  readonly denied: null | { readonly rule: DenyIf; readonly message: string };
}

export function unreadable(why: string, holds: AnalyzerResult["holds"] = () => false): AnalyzerResult {
  return { unparseable: why, holds };
}

export const NOTHING_TO_PREPARE = (): Promise<void> => Promise.resolve();
