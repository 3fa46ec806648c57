import { type Decided, HoldBack } from "./hold-back.ts";
import type { TextGuard } from "./text-guard.ts";

/** What a guard makes of a whole text. */
export interface GuardedText {
  /** The text with placeholders; when it was blocked, what stands before the finding that blocked. */
  readonly text: string;
  readonly findings: readonly Decided[];
  readonly blocked: Decided | null;
  /** Whether a detector failed. */
  readonly failed: boolean;
}

/** Guards a text that is there as a whole: a stream of one piece, so that both give the same. */
export function redactText(guard: TextGuard, text: string): GuardedText {
  if (guard.rules.length === 0 || text === "") return { text, findings: [], blocked: null, failed: false };
  const stream = new HoldBack(guard);
  const out = stream.end(text);
  return { text: out, findings: stream.findings, blocked: stream.blocked, failed: stream.failed };
}
