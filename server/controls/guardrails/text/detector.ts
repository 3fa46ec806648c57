import type { GuardrailCheck } from "./finding.ts";

/**
 * The law every detector keeps, and on which streaming stands: whether a finding starts at a place, and what it is,
 * depends on nothing but `LEFT` characters before the place and `WINDOW` characters from it on. What is longer must be
 * certain within the window and goes on as a tail.
 */
export const WINDOW = 96;
export const LEFT = 64;

/** A detector's own finding, in offsets of the text it was given. */
export interface DetectedSpan {
  readonly category: string;
  readonly start: number;
  /** Exclusive. While `tail` is there, as far as it is known. */
  readonly end: number;
  readonly score: number;
  /** Present when more of the value may come. */
  readonly tail?: ValueTail;
}

/** Follows a value that is longer than the window. It holds the state of one value, so each value has its own. */
export interface ValueTail {
  /** Takes what belongs to the value from `from` on. `final` says that no text comes behind `text`. */
  take(text: string, from: number, final: boolean): { readonly end: number; readonly open: boolean };
}

export interface Detector {
  readonly check: GuardrailCheck;
  /** Longest finding, in characters; a tail is not counted. */
  readonly maxLength: number;
  /**
   * The form of texts that it is given, `folded` when left out. As it is: what it looks for is what folding takes out. Spelled plainly:
   * it looks for what is said, whatever accents, look-alikes and ornamental letters that is written with.
   */
  readonly reads?: "as it is" | "spelled plainly";
  /**
   * The findings that start in [from, to), left to right; one starts no earlier than the one before it ends. A finding
   * with an open tail is the last.
   */
  find(text: string, from: number, to: number, final: boolean): DetectedSpan[];
  /**
   * As `find`, for as long as a break may be put off: what starts behind `upTo` is not looked for yet. Only where looking at a
   * few hundred characters may take long.
   */
  findSome?(text: string, from: number, to: number, final: boolean): { readonly found: DetectedSpan[]; readonly upTo: number };
  /** The earliest place where text still to come could make a finding start, or change the one that does. */
  openFrom(text: string): number;
}
