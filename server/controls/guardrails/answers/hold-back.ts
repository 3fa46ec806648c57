import { runToEnd, type InTurns } from "../../../kernel/scheduling/in-turns.ts";
import { isHighSurrogate } from "../text/characters.ts";
import type { DetectedSpan } from "../text/detector.ts";
import type { FoldedText } from "../text/folded-text.ts";
import { cutEscapeFrom, JsonBeginning, JsonStrings } from "../text/json-text.ts";
import type { GuardrailAction, GuardrailCheck, Finding } from "../text/finding.ts";
import { Readings } from "../text/readings.ts";
import { strideOf } from "../text/stride.ts";
import type { GuardSource, GuardRule, TextGuard } from "../text-guard.ts";
import { writtenInJson, type WriteInstead } from "./write-instead.ts";

/** Most characters that a stream holds back, not counting invisible ones. */
export const MAX_HELD = 128;
/**
 * Most characters held back including invisible ones. No script needs so many; text that hides behind more counts as
 * impossible to inspect.
 */
const MAX_HELD_IN_ALL = 16 * MAX_HELD;
/** Sent text that detectors may still look at, in folded characters: their reach to the left. */
const CONTEXT = 2 * MAX_HELD;

/** The text that replaces a redacted value. */
export function placeholder(category: string): string {
  return `[REDACTED:${category}]`;
}

const NONE: readonly never[] = [];

/** A finding with its rule's action and source. */
export type GuardedFinding = Finding & {
  readonly action: GuardrailAction;
  readonly source?: GuardSource;
  /** Not a value: the detector failed, and what it would have found is unknown. */
  readonly failed?: true;
  /** What was written in its place, if not the usual placeholder. */
  readonly written?: string;
};

interface Pending {
  readonly found: DetectedSpan;
  readonly check: GuardrailCheck;
  readonly rule: GuardRule;
  readonly order: number;
  readonly start: number;
  end: number;
  open: boolean;
  readonly failed?: true;
  written?: string;
}

/** Progress of one rule. All offsets count from the start of the whole text. */
interface Progress {
  readonly rule: GuardRule;
  /** For a rule on the text in which tag characters are read: its progress on the text without them. Otherwise null. */
  readonly untagged: Progress | null;
  readonly order: number;
  /** No unknown finding starts before this offset. */
  cursor: number;
  tail: Pending | null;
  /** Its detector failed and is not used any more. */
  dead: boolean;
}

/**
 * Guards one text that arrives in pieces. The joined output of `push` and `end` does not depend on how the text was cut: each
 * redacted value is replaced by its placeholder, and overlapping findings become one, named after the one that starts first (on
 * a tie, by the guard's order). At most 128 visible characters wait at any time; a longer value is swallowed as it arrives.
 * After `blocked` is set nothing more is released, and nothing of the blocking value was. A detector that throws blocks if its
 * rule blocks or redacts, because its findings are unknown; if it only warns, the text passes and `failed` is true.
 */
export class HoldBack {
  readonly #progress: Progress[];
  /** Characters inspected without a break. */
  readonly stride: number;
  /** Original text from `#base` on. */
  #text = "";
  #base = 0;
  /** Everything before this offset was released or swallowed. */
  #position = 0;
  /** Everything before this offset was inspected by another instance. */
  readonly #looked: number;
  #pending: Pending[] = [];
  /** End of the last redaction written, and those of its values that may still grow. */
  #reach = 0;
  #growing: Pending[] = [];
  #findings: (Pending & { readonly action: GuardrailAction })[] = [];
  #blocked: Pending | null = null;
  #failed = false;
  readonly #beginning = new JsonBeginning();
  /** For text that is JSON; otherwise null. */
  #strings: JsonStrings | null = null;
  /** Whether a detector stopped before it had inspected all it could. */
  #unfinished = false;

  readonly #writeInstead: WriteInstead | null;

  /** `before`: text already inspected and sent, which this text continues; only findings that reach beyond it are new. */
  constructor(guard: TextGuard, before = "", writeInstead: WriteInstead | null = null) {
    this.#writeInstead = writeInstead;
    this.stride = strideOf(guard);
    this.#text = before;
    this.#position = before.length;
    this.#looked = before.length;
    this.#progress = guard.rules.flatMap((rule, order) => {
      const untagged: Progress = { rule, untagged: null, order, cursor: 0, tail: null, dead: false };
      return rule.detector.reads === "as it is"
        ? [untagged]
        : [untagged, { rule, untagged, order, cursor: 0, tail: null, dead: false } satisfies Progress];
    });
  }

  /** The first finding whose rule blocks; the call must end. */
  get blocked(): GuardedFinding | null {
    return this.#blocked === null ? null : { ...asFinding(this.#blocked), action: "block" };
  }

  /** Whether a detector failed. */
  get failed(): boolean {
    return this.#failed;
  }

  /** Treats every detector as failed, because inspection exceeded its budget. */
  expire(): void {
    for (const progress of this.#progress) this.#fail(progress);
  }

  /** Findings so far, in text order, without those inside an earlier finding of the same check. */
  get findings(): readonly GuardedFinding[] {
    if (this.#findings.length === 0) return NONE;
    const reach = new Map<GuardrailCheck, number>();
    return this.#findings
      .toSorted((a, b) => a.start - b.start || a.order - b.order || b.end - a.end)
      .filter(({ check, end }) => {
        if (end <= (reach.get(check) ?? 0)) return false;
        reach.set(check, end);
        return true;
      })
      .map((pending) => ({ ...asFinding(pending), action: pending.action }));
  }

  /** Text received but not released. */
  get waiting(): string {
    return this.#text.slice(Math.max(0, this.#position - this.#base));
  }

  /** Takes the next piece; returns the text to release. */
  push(delta: string): string {
    return runToEnd(this.pushing(delta));
  }

  /** Ends the text, with `last` as its last piece; returns all remaining text. */
  end(last = ""): string {
    return runToEnd(this.ending(last));
  }

  /** As `push` and `end`, for callers that yield to other work in between. */
  pushing(delta: string): InTurns<string> {
    return this.#toTheEnd(delta, false);
  }

  ending(last = ""): InTurns<string> {
    return this.#toTheEnd(last, true);
  }

  #add(piece: string): void {
    this.#text += piece;
    if (this.#beginning.take(piece) && this.#strings === null) this.#strings = new JsonStrings(this.#position);
  }

  *#toTheEnd(piece: string, final: boolean): InTurns<string> {
    if (this.#blocked !== null) return "";
    this.#add(piece);
    let out = this.#advance(final);
    while (this.#unfinished && this.#blocked === null) {
      yield;
      out += this.#advance(final);
    }
    return out;
  }

  #advance(final: boolean): string {
    const text = final ? this.#text : this.#text.slice(0, this.#cutAt());
    const readings = new Readings(text, this.#strings !== null);
    const length = this.#base + text.length;
    let bound = length;
    this.#unfinished = false;
    for (const progress of this.#progress) {
      const { untagged } = progress;
      const { detector } = progress.rule;
      if (untagged?.dead === true) progress.dead = true;
      if (progress.dead) continue;
      try {
        if (untagged === null) this.#look(progress, readings.of(detector), text.length, final);
        else if (readings.hasTags || progress.tail !== null || untagged.tail !== null)
          this.#look(progress, readings.withTags(detector), text.length, final);
        // Text without tags is the same in both readings; a value that continues may continue in tags.
        else progress.cursor = Math.max(progress.cursor, untagged.cursor);
      } catch {
        this.#fail(progress);
      }
      if (progress.rule.action !== "warn") bound = Math.min(bound, progress.cursor);
    }
    if (this.#blocked !== null) bound = Math.min(bound, this.#blocked.start);
    const out = this.#release(text, bound);
    this.#strings?.holds(text, this.#base, this.#position);
    const waiting = this.#forget(readings);
    if (!final && !this.#unfinished && waiting > MAX_HELD_IN_ALL) this.expire();
    return out;
  }

  /** Where to cut the text so that it does not end within a character or an escape. */
  #cutAt(): number {
    const { length } = this.#text;
    if (isHighSurrogate(this.#text.charCodeAt(length - 1))) return length - 1;
    if (this.#strings !== null) return Math.min(cutEscapeFrom(this.#text), this.#text.endsWith("\\\\") ? length - 2 : length);
    return this.#text.endsWith("\\") ? length - 1 : length;
  }

  /** Advances one rule as far as the text allows a decision. */
  #look(progress: Progress, folded: FoldedText, length: number, final: boolean): void {
    const { detector } = progress.rule;
    const base = this.#base;
    if (progress.tail !== null) {
      const pending = progress.tail;
      const { end, open } = pending.found.tail?.take(folded.text, folded.toFolded(pending.end - base), final) ?? { end: 0, open: false };
      pending.end = Math.max(pending.end, base + folded.endToOriginal(end));
      pending.open = open;
      progress.cursor = pending.end;
      if (open) return;
      progress.tail = null;
    }
    const undecided = final ? length : folded.toOriginal(Math.max(detector.openFrom(folded.text), folded.text.length - MAX_HELD + 1));
    const to = Math.min(undecided, length);
    if (base + to <= progress.cursor) return;
    const from = folded.toFolded(progress.cursor - base);
    const end = folded.toFolded(to);
    const some = detector.findSome?.(folded.text, from, end, final);
    const isCut = some !== undefined && some.upTo < end;
    if (isCut) this.#unfinished = true;
    for (const found of some?.found ?? detector.find(folded.text, from, end, final)) {
      const start = base + folded.toOriginal(found.start);
      const foundEnd = base + folded.endToOriginal(found.end);
      progress.cursor = Math.max(progress.cursor, foundEnd);
      if (foundEnd <= this.#looked && found.tail === undefined) continue;
      const pending: Pending = {
        found,
        check: detector.check,
        rule: progress.rule,
        order: progress.order,
        start,
        end: foundEnd,
        open: found.tail !== undefined,
      };
      if (pending.open) progress.tail = pending;
      if (found.score >= progress.rule.threshold) this.#take(pending, progress.rule.action);
    }
    if (progress.tail === null) progress.cursor = Math.max(progress.cursor, base + (isCut ? folded.toOriginal(some.upTo) : to));
  }

  #fail(progress: Progress): void {
    if (progress.dead) return;
    const { rule, untagged, order, cursor } = progress;
    progress.dead = true;
    progress.tail = null;
    this.#failed = true;
    if (rule.action === "warn" || untagged?.dead === true) return;
    const start = Math.min(cursor, this.#base + this.#text.length);
    this.#take(
      {
        found: { category: "detector_failed", start, end: start, score: 1 },
        check: rule.detector.check,
        rule,
        order,
        start,
        end: start,
        open: false,
        failed: true,
      },
      "block",
    );
  }

  #take(pending: Pending, action: GuardrailAction): void {
    this.#findings.push(Object.assign(pending, { action }));
    if (action === "redact") this.#pending.push(pending);
    if (
      action === "block" &&
      (this.#blocked === null ||
        pending.start < this.#blocked.start ||
        (pending.start === this.#blocked.start && pending.order < this.#blocked.order))
    )
      this.#blocked = pending;
  }

  /** The text to release before `bound`; all redactions that start before it are known. */
  #release(text: string, decided: number): string {
    let out = "";
    const base = this.#base;
    const bound = this.#writeInstead === null ? decided : this.#wholeUpTo(decided);
    const due = this.#due(bound);
    for (const [n, pending] of due.entries()) {
      this.#position = Math.max(this.#position, this.#covered());
      if (pending.start >= this.#reach) {
        out += text.slice(this.#position - base, pending.start - base) + this.#writtenFor(text, pending, due, n);
        this.#reach = pending.start;
      }
      this.#growing.push(pending);
      this.#position = Math.max(this.#position, this.#covered());
    }
    this.#position = Math.max(this.#position, this.#covered());
    if (bound > this.#position) {
      out += text.slice(this.#position - base, bound - base);
      this.#position = bound;
    }
    return out;
  }

  /** The redactions that start before `bound`, in order; they are pending no longer. */
  #due(bound: number): readonly Pending[] {
    if (this.#pending.length === 0) return NONE;
    const due = this.#pending.filter(({ start }) => start < bound);
    this.#pending = this.#pending.filter(({ start }) => start >= bound);
    return due.sort((a, b) => a.start - b.start || a.order - b.order || b.end - a.end);
  }

  /** At most `bound`, but before a value whose end is not decided yet: what is written in its place depends on all of it. */
  #wholeUpTo(bound: number): number {
    let start = 0;
    let reach = this.#reach;
    for (const pending of this.#pending.toSorted((a, b) => a.start - b.start)) {
      if (pending.start >= bound) break;
      if (pending.start >= reach) start = pending.start;
      reach = Math.max(reach, pending.end);
      if (reach > bound) return Math.max(start, this.#position);
    }
    return bound;
  }

  /** In JSON, a value outside a string is a number, so the placeholder is written as a string. */
  #writtenFor(text: string, pending: Pending, due: readonly Pending[], n: number): string {
    const { found, start } = pending;
    const within = this.#strings === null ? null : this.#strings.holds(text, this.#base, start);
    const usual = placeholder(found.category);
    if (this.#writeInstead === null) return within === false ? `"${usual}"` : usual;
    const overlapping = [pending];
    let { end } = pending;
    for (let next = n + 1, other = due[next]; other !== undefined && other.start < end; other = due[++next]) {
      overlapping.push(other);
      end = Math.max(end, other.end);
    }
    const value = text.slice(start - this.#base, end - this.#base);
    const rules = overlapping.map(({ rule }) => rule);
    // The end of a value that still grows is unknown.
    const instead = overlapping.some(({ open }) => open) ? null : writtenInJson(this.#writeInstead, value, within, found.category, rules);
    pending.written = instead ?? (within === false ? `"${usual}"` : usual);
    return pending.written;
  }

  #covered(): number {
    for (const { end } of this.#growing) this.#reach = Math.max(this.#reach, end);
    if (this.#growing.length > 0) this.#growing = this.#growing.filter(({ open }) => open);
    return this.#reach;
  }

  /** Drops text that no detector needs any more; returns how many characters are undecided. */
  #forget(readings: Readings): number {
    let oldest = this.#position;
    for (const { cursor, dead } of this.#progress) if (!dead) oldest = Math.min(oldest, cursor);
    const decided = oldest - this.#base;
    const waiting = this.#text.length - decided;
    let kept = Number.POSITIVE_INFINITY;
    for (const read of readings.made) kept = Math.min(kept, read.toOriginal(Math.max(0, read.toFolded(decided) - CONTEXT)));
    const drop = Math.max(kept, decided - MAX_HELD_IN_ALL);
    if (drop >= CONTEXT) {
      this.#text = this.#text.slice(drop);
      this.#base += drop;
    }
    return waiting;
  }
}

function asFinding({ found, check, rule, start, end, failed, written }: Pending): Omit<GuardedFinding, "action"> {
  return {
    check,
    category: found.category,
    start,
    end,
    score: found.score,
    ...(rule.source === undefined ? {} : { source: rule.source }),
    ...(failed === undefined ? {} : { failed }),
    ...(written === undefined ? {} : { written }),
  };
}
