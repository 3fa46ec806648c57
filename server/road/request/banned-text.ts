import { RE2JS } from "re2js";
import type { InTurns, WorkBudget } from "../../kernel/scheduling/in-turns.ts";

/** Bounds the work done before other calls get a turn: program size times characters. */
const STEPS_WITHOUT_BREAK = 2_000_000;
/** Overlap of neighbouring pieces, in characters. A longer match across a border is missed. */
const OVERLAP = 1_024;

/** A tenant's RE2 pattern that no text of a request may match. */
export class BannedText {
  private readonly pattern: RE2JS;
  private readonly piece: number;

  constructor(source: string) {
    this.pattern = RE2JS.compile(source);
    this.piece = Math.max(OVERLAP, Math.floor(STEPS_WITHOUT_BREAK / this.pattern.programSize()));
  }

  /** Whether the text matches; null if the call's work budget ran out first. Pauses after each piece so that other calls can run. */
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
      // One character before the piece and a NUL behind it keep `^` and `$` from matching inside the text.
      const before = Math.max(0, at - 1);
      const end = at + piece + OVERLAP;
      const part = end < text.length ? `${text.slice(before, end)}\0` : text.slice(before);
      if (pattern.test(part) && pattern.matcher(part).find(at - before)) return true;
      yield;
    }
    return false;
  }
}
