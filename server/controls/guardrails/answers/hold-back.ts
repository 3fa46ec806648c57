import { runToEnd, type InTurns } from "../../../kernel/scheduling/in-turns.ts";
import { isHighSurrogate } from "../text/characters.ts";
import type { DetectedSpan } from "../text/detector.ts";
import type { FoldedText } from "../text/folded-text.ts";
import { cutEscapeFrom, JsonBeginning, JsonStrings } from "../text/json-text.ts";
import type { GuardrailAction, GuardrailCheck, Finding } from "../text/finding.ts";
import { Readings } from "../text/readings.ts";
import { strideOf } from "../text/stride.ts";
import type { GuardSource, GuardRule, TextGuard } from "../text-guard.ts";

/** Most characters a stream holds back, those that nobody sees not counted. */
export const MAX_HELD = 128;
/** Most it holds back with them. No writing needs so many: what hides a text behind more counts as one that cannot be looked at. */
const MAX_HELD_IN_ALL = 16 * MAX_HELD;
/** Text that has left and that detectors may still look at, counted as they see it: their reach to the left. */
const KEPT = 2 * MAX_HELD;

/** The text that replaces a redacted value. */
export function placeholder(category: string): string {
  return `[REDACTED:${category}]`;
}

/** A finding, what its rule does about it, and whose rule it is. */
export type GuardedFinding = Finding & {
  readonly action: GuardrailAction;
  readonly source?: GuardSource;
  /** No value was found: the detector failed, and what its rule would have found cannot be known. */
  readonly failed?: true;
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
}

/** How far one rule has looked. All offsets count from the start of the whole text. */
interface Progress {
  readonly rule: GuardRule;
  /** Of the rule on the text in which tag characters are read: where it stands on the text without them. Null for that one. */
  readonly untagged: Progress | null;
  readonly order: number;
  /** No finding that is not known yet starts before it. */
  cursor: number;
  tail: Pending | null;
  /** Its detector failed: it looks no more. */
  dead: boolean;
}

/**
 * Guards one text that arrives in pieces. What `push` and `end` return, joined, is the same however the text was cut:
 * each redacted value is replaced by its placeholder, and findings that overlap become one, named by the one that starts
 * first (of the same start, by the guard's order). At most 128 characters that can be seen wait at any time; a longer value is swallowed
 * as it comes. After `blocked` is set nothing more leaves, and nothing of the value that blocked has left. A detector that
 * throws blocks where its rule blocks or redacts, because what it would have found cannot be known; where it only warns,
 * the text passes and `failed` is true.
 */
export class HoldBack {
  readonly #progress: Progress[];
  /** How much of the text is looked at without a break. */
  readonly stride: number;
  /** Original text from `#base` on. */
  #text = "";
  #base = 0;
  /** Up to here everything has left or was swallowed. */
  #position = 0;
  /** Up to here another has looked. */
  readonly #looked: number;
  #pending: Pending[] = [];
  /** How far the redaction that was written last reaches, and those of its values that may still go on. */
  #reach = 0;
  #growing: Pending[] = [];
  #findings: (Pending & { readonly action: GuardrailAction })[] = [];
  #blocked: Pending | null = null;
  #failed = false;
  readonly #beginning = new JsonBeginning();
  /** Of a text that is JSON; null for others. */
  #strings: JsonStrings | null = null;
  /** Whether a detector stopped before it had looked at all it could. */
  #unfinished = false;

  /** `before`: text that was looked at and has left, which this one goes on: only what reaches out of it is found anew. */
  constructor(guard: TextGuard, before = "") {
    this.stride = strideOf(guard);
    this.#text = before;
    this.#position = before.length;
    this.#looked = before.length;
    this.#progress = guard.rules.flatMap((rule, order) => {
      const untagged: Progress = { rule, untagged: null, order, cursor: 0, tail: null, dead: false };
      return rule.detector.reads === "as it is" ? [untagged] : [untagged, { ...untagged, untagged }];
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

  /** Takes every detector for failed: looking took longer than it may. */
  expire(): void {
    for (const progress of this.#progress) this.#fail(progress);
  }

  /** What was found until now, in the order of the text, without what lies inside an earlier finding of the same check. */
  get findings(): readonly GuardedFinding[] {
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

  /** What waits. */
  get waiting(): string {
    return this.#text.slice(Math.max(0, this.#position - this.#base));
  }

  /** Takes the next piece; returns what may leave. */
  push(delta: string): string {
    return runToEnd(this.pushing(delta));
  }

  /** The text is over, with `last` as its last piece; returns what was held. */
  end(last = ""): string {
    return runToEnd(this.ending(last));
  }

  /** As `push` and `end`, for who can let others have their turn meanwhile. */
  *pushing(delta: string): InTurns<string> {
    if (this.#blocked !== null) return "";
    this.#add(delta);
    return yield* this.#toTheEnd(false);
  }

  *ending(last = ""): InTurns<string> {
    if (this.#blocked !== null) return "";
    this.#add(last);
    return yield* this.#toTheEnd(true);
  }

  #add(piece: string): void {
    this.#text += piece;
    if (this.#beginning.take(piece) && this.#strings === null) this.#strings = new JsonStrings(this.#position);
  }

  *#toTheEnd(final: boolean): InTurns<string> {
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
        // What holds no tags is the same to both, and a value that goes on may go on in tags.
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

  /** Where the text ends but for a character of which a part is still to come, or which is read by what follows. */
  #cutAt(): number {
    const { length } = this.#text;
    if (isHighSurrogate(this.#text.charCodeAt(length - 1))) return length - 1;
    if (this.#strings !== null) return Math.min(cutEscapeFrom(this.#text), this.#text.endsWith("\\\\") ? length - 2 : length);
    return this.#text.endsWith("\\") ? length - 1 : length;
  }

  /** Moves one rule as far as the text decides. */
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

  /** What leaves of the text before `bound`, where every redaction that starts before it is known. */
  #release(text: string, bound: number): string {
    let out = "";
    const base = this.#base;
    const due = this.#pending.filter(({ start }) => start < bound);
    if (due.length > 0) {
      this.#pending = this.#pending.filter(({ start }) => start >= bound);
      due.sort((a, b) => a.start - b.start || a.order - b.order || b.end - a.end);
    }
    for (const pending of due) {
      this.#position = Math.max(this.#position, this.#covered());
      if (pending.start >= this.#reach) {
        out += text.slice(this.#position - base, pending.start - base) + this.#placeholderFor(text, pending);
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

  /** What JSON has outside of its strings is a number: a string stands in its place. */
  #placeholderFor(text: string, { found, start }: Pending): string {
    const written = placeholder(found.category);
    return this.#strings === null || this.#strings.holds(text, this.#base, start) ? written : `"${written}"`;
  }

  #covered(): number {
    for (const { end } of this.#growing) this.#reach = Math.max(this.#reach, end);
    if (this.#growing.length > 0) this.#growing = this.#growing.filter(({ open }) => open);
    return this.#reach;
  }

  /** Drops text that no detector looks at again; returns how much is not decided yet. */
  #forget(readings: Readings): number {
    let oldest = this.#position;
    for (const { cursor, dead } of this.#progress) if (!dead) oldest = Math.min(oldest, cursor);
    const decided = oldest - this.#base;
    const waiting = this.#text.length - decided;
    const keptOf = (read: FoldedText) => read.toOriginal(Math.max(0, read.toFolded(decided) - KEPT));
    const kept = Math.min(...readings.made.map(keptOf));
    const drop = Math.max(kept, decided - MAX_HELD_IN_ALL);
    if (drop >= KEPT) {
      this.#text = this.#text.slice(drop);
      this.#base += drop;
    }
    return waiting;
  }
}

function asFinding({ found, check, rule, start, end, failed }: Pending): Finding & Pick<GuardedFinding, "source" | "failed"> {
  return {
    check,
    category: found.category,
    start,
    end,
    score: found.score,
    ...(rule.source === undefined ? {} : { source: rule.source }),
    ...(failed === undefined ? {} : { failed }),
  };
}
