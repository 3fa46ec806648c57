import { RE2JS } from "re2js";
import type { InTurns, WorkBudget } from "../kernel/scheduling/in-turns.ts";

/** Instructions times characters that are compared without a break. */
const STEPS_WITHOUT_BREAK = 2_000_000;
/** What two neighbouring pieces of a long text have in common: a longer match that lies across their border is not found. */
const OVERLAP = 1_024;

/** A pattern of the tenant's (RE2) that may stand in no text of a request. */
export class BannedText {
  private readonly pattern: RE2JS;
  private readonly piece: number;

  constructor(source: string) {
    this.pattern = RE2JS.compile(source);
    this.piece = Math.max(OVERLAP, Math.floor(STEPS_WITHOUT_BREAK / this.pattern.programSize()));
  }

  /** Whether it stands in the text; null where finding out would take more than the call may cost. */
  *standsIn(text: string, budget: WorkBudget): InTurns<boolean | null> {
    const { pattern, piece } = this;
    budget.grant(text.length);
    if (text.length <= piece + OVERLAP) {
      const found = pattern.test(text);
      yield;
      return found;
    }
    for (let at = 0; at < text.length; at += piece) {
      if (budget.exhausted) return null;
      // The character before it and one behind it keep `^` and `$` from matching where the text goes on.
      const before = Math.max(0, at - 1);
      const end = at + piece + OVERLAP;
      const part = end < text.length ? `${text.slice(before, end)}\0` : text.slice(before);
      if (pattern.test(part) && pattern.matcher(part).find(at - before)) return true;
      yield;
    }
    return false;
  }
}
