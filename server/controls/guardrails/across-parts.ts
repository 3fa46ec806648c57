import type { InTurns } from "../../kernel/scheduling/in-turns.ts";
import { PART_JOINTS } from "../../road/request/message-parts.ts";
import type { TextSlot } from "../../wire/inbound.ts";
import type { GuardRun } from "./guard-run.ts";
import { placeholder } from "./answers/hold-back.ts";
import type { TextGuard } from "./text-guard.ts";

/** Characters of a part that are inspected together with its neighbours. */
const BESIDE = 4 * 1024;
/** Only a message crafted to hold a value in each of its parts needs more. */
const MAX_ROUNDS = 100;

/** A range of one part, and its offset `at` in the joined text. */
interface Stretch {
  readonly part: number;
  readonly from: number;
  readonly at: number;
  readonly length: number;
}

/**
 * Inspects the parts of one message as the single text that a model reads, after each was found clean by itself. A
 * value across parts is redacted in every part it reaches into. Returns whether any part was changed.
 */
export function* guardedAcross(parts: readonly TextSlot[], run: GuardRun, guard: TextGuard): InTurns<boolean> {
  if (guard.rules.length === 0) return false;
  const texts = parts.map(({ text }) => text);
  for (const joint of PART_JOINTS) {
    // Redaction shifts the offsets after it, so the parts are joined again.
    for (let round = 0; round < MAX_ROUNDS && (yield* redactedOnce(texts, joint, run, guard)); round++);
    if (run.blocked !== null) return false;
  }
  let changed = false;
  for (const [n, slot] of parts.entries()) {
    const text = texts[n] ?? "";
    if (text === slot.text) continue;
    slot.replace(text);
    changed = true;
  }
  return changed;
}

/** Redacts the findings of the first group of ranges that has any; returns whether there was one. */
function* redactedOnce(texts: string[], joint: string, run: GuardRun, guard: TextGuard): InTurns<boolean> {
  for (const stretches of neighbours(texts, joint)) {
    const text = stretches.map(({ part, from, length }) => (texts[part] ?? "").slice(from, from + length)).join(joint);
    const spans = yield* run.across(text, guard);
    if (run.blocked !== null) return false;
    if (spans.length === 0) continue;
    // From the end, so that earlier offsets stay valid.
    for (const { start, end, category } of spans.toReversed()) {
      for (const { part, from, at, length } of stretches) {
        if (length === 0 || at >= end || at + length <= start) continue;
        const own = texts[part] ?? "";
        texts[part] = own.slice(0, from + Math.max(0, start - at)) + placeholder(category) + own.slice(from + Math.min(length, end - at));
      }
    }
    return true;
  }
  return false;
}

/**
 * Groups of ranges to read as one. Of a long part only the ends next to its neighbours are taken, so it ends one group
 * and begins the next.
 */
function neighbours(texts: readonly string[], joint: string): Stretch[][] {
  const all: Stretch[][] = [];
  let current: Stretch[] = [];
  let at = 0;
  const add = (part: number, from: number, length: number) => {
    current.push({ part, from, at, length });
    at += length + joint.length;
  };
  for (const [part, { length }] of texts.entries()) {
    if (length <= 2 * BESIDE) {
      add(part, 0, length);
      continue;
    }
    add(part, 0, BESIDE);
    all.push(current);
    current = [];
    at = 0;
    add(part, length - BESIDE, BESIDE);
  }
  all.push(current);
  return all.filter((stretches) => stretches.length > 1);
}
