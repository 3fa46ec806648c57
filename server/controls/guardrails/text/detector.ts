import type { GuardrailCheck } from "./finding.ts";

/**
 * The rule that all detectors keep and streaming depends on: whether a finding starts at a place, and which, depends only on the `LEFT`
 * characters before it and the `WINDOW` characters from it. A longer value must be certain within the window and continues as a tail.
 */
export const WINDOW = 96;
export const LEFT = 64;

/** A detector's finding, in offsets of the text it was given. */
export interface DetectedSpan {
  readonly category: string;
  readonly start: number;
  /** Exclusive; while there is a `tail`, the end as far as known. */
  readonly end: number;
  readonly score: number;
  /** Present if the value may continue. */
  readonly tail?: ValueTail;
}

/** Follows a value longer than the window. Stateful, so each value has its own. */
export interface ValueTail {
  /** Takes what belongs to the value from `from` on. `final`: no text follows `text`. */
  take(text: string, from: number, final: boolean): { readonly end: number; readonly open: boolean };
}

export interface Detector {
  readonly check: GuardrailCheck;
  /** Longest finding in characters, without its tail. */
  readonly maxLength: number;
  /**
   * The form of text that it gets, folded by default. "as it is": it looks for what folding removes. "spelled plainly":
   * it looks for wording, regardless of accents, look-alikes and ornamental letters.
   */
  readonly reads?: "as it is" | "spelled plainly";
  /** Findings that start in [from, to), left to right without overlap. One with an open tail is the last. */
  find(text: string, from: number, to: number, final: boolean): DetectedSpan[];
  /**
   * As `find`, but may stop early to allow a break: what starts at or after `upTo` has not been searched. Only for
   * detectors that may take long on a few hundred characters.
   */
  findSome?(text: string, from: number, to: number, final: boolean): { readonly found: DetectedSpan[]; readonly upTo: number };
  /** The earliest offset at which further text could create or change a finding. */
  openFrom(text: string): number;
}
