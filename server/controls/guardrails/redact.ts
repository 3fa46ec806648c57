import { type GuardedFinding, HoldBack } from "./answers/hold-back.ts";
import { beginsAsJson } from "./text/json-text.ts";
import { Readings } from "./text/readings.ts";
import type { TextGuard } from "./text-guard.ts";

/** A whole text after its inspection. */
export interface GuardedText {
  /** The text with placeholders; when it was blocked, what stands before the finding that blocked. */
  readonly text: string;
  readonly findings: readonly GuardedFinding[];
  readonly blocked: GuardedFinding | null;
  /** Whether a detector failed. */
  readonly failed: boolean;
}

/** Of a short text that holds nothing, following it as a stream costs more than the detectors do. */
const SHORT = 1024;

/** Whether the text is short and holds nothing, as is seen without a break; false where that is not known. */
export function isSeenClean(guard: TextGuard, text: string): boolean {
  return text.length <= SHORT && holdsNothing(guard, text);
}

/** Guards a text that is there as a whole: a stream of one piece, so that both give the same. */
export function redactText(guard: TextGuard, text: string): GuardedText {
  if (guard.rules.length === 0 || text === "" || isSeenClean(guard, text)) return { text, findings: [], blocked: null, failed: false };
  const stream = new HoldBack(guard);
  const out = stream.end(text);
  return { text: out, findings: stream.findings, blocked: stream.blocked, failed: stream.failed };
}

/** Asks every detector what a stream of one piece would. What fails is the stream's to tell. */
function holdsNothing(guard: TextGuard, text: string): boolean {
  try {
    const readings = new Readings(text, beginsAsJson(text));
    for (const { detector } of guard.rules) {
      for (const read of readings.allOf(detector)) {
        const to = read.text.length;
        const some = detector.findSome?.(read.text, 0, to, true);
        if (some !== undefined && some.upTo < to) return false;
        if ((some?.found ?? detector.find(read.text, 0, to, true)).length > 0) return false;
      }
    }
  } catch {
    return false;
  }
  return true;
}
