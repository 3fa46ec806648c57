import { type GuardedFinding, HoldBack } from "./answers/hold-back.ts";
import type { WriteInstead } from "./answers/write-instead.ts";
import { beginsAsJson } from "./text/json-text.ts";
import { Readings } from "./text/readings.ts";
import type { TextGuard } from "./text-guard.ts";

/** A whole text after inspection. */
export interface GuardedText {
  /** The text with placeholders; if blocked, only what precedes the blocking finding. */
  readonly text: string;
  readonly findings: readonly GuardedFinding[];
  readonly blocked: GuardedFinding | null;
  /** Whether a detector failed. */
  readonly failed: boolean;
}

/** For a short clean text, streaming costs more than the detectors themselves. */
const SHORT = 1024;

/** Whether the text is short and clean, decided without a break; false if that cannot be told. */
export function isSeenClean(guard: TextGuard, text: string): boolean {
  return text.length <= SHORT && holdsNothing(guard, text);
}

/** Guards a whole text as a stream of one piece, so that both give the same result. */
export function redactText(guard: TextGuard, text: string, writeInstead: WriteInstead | null = null): GuardedText {
  if (guard.rules.length === 0 || text === "" || isSeenClean(guard, text)) return { text, findings: [], blocked: null, failed: false };
  const stream = new HoldBack(guard, "", writeInstead);
  const out = stream.end(text);
  return { text: out, findings: stream.findings, blocked: stream.blocked, failed: stream.failed };
}

/** Runs every detector as a stream of one piece would. On failure returns false, so that the stream handles it. */
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
