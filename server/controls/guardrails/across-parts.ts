import type { InTurns } from "../../kernel/scheduling/in-turns.ts";
import { PART_JOINTS } from "../../road/message-parts.ts";
import type { TextSlot } from "../../wire/inbound.ts";
import type { GuardRun } from "./guard-run.ts";
import { placeholder } from "./answers/hold-back.ts";
import type { TextGuard } from "./text-guard.ts";

/** Of a part, what is looked at together with the parts beside it. */
const BESIDE = 4 * 1024;
/** More than any message has that is not made to hold a value in each of its parts. */
const MOST_ROUNDS = 100;

/** A stretch of one part, and where it stands in the text of several. */
interface Stretch {
  readonly part: number;
  readonly from: number;
  readonly at: number;
  readonly length: number;
}

/**
 * Looks at texts that are parts of one message as the one text a model reads, each of them clean by itself: what lies across
 * them is redacted in every part it reaches into. Whether any was changed.
 */
export function* guardedAcross(parts: readonly TextSlot[], run: GuardRun, guard: TextGuard): InTurns<boolean> {
  if (guard.rules.length === 0) return false;
  const texts = parts.map(({ text }) => text);
  for (const joint of PART_JOINTS) {
    // What was redacted has moved the places behind it, so the parts are put together anew.
    for (let round = 0; round < MOST_ROUNDS && (yield* redactedOnce(texts, joint, run, guard)); round++);
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

/** Redacts what the first stretches hold that hold anything; whether any did. */
function* redactedOnce(texts: string[], joint: string, run: GuardRun, guard: TextGuard): InTurns<boolean> {
  for (const stretches of neighbours(texts, joint)) {
    const text = stretches.map(({ part, from, length }) => (texts[part] ?? "").slice(from, from + length)).join(joint);
    const spans = yield* run.across(text, guard);
    if (run.blocked !== null) return false;
    if (spans.length === 0) continue;
    // From the end, so that the places before stay where they are.
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
 * The parts in stretches that are read as one: of a long part only what is near its neighbours, so that it ends one and begins the next.
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
