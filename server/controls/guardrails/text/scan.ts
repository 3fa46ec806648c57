import type { DetectedSpan, ValueTail } from "./detector.ts";

/** The value that begins with `head`, with its tail followed as far as the text goes. */
export function withTail(text: string, final: boolean, head: Omit<DetectedSpan, "tail">, tail: ValueTail): DetectedSpan {
  const { end, open } = tail.take(text, head.end, final);
  return open ? { ...head, end, tail } : { ...head, end };
}

/**
 * Calls `decide` at every match of `candidate`, which must be global, cheap and local. A rejected candidate advances
 * by one character, so that the result does not depend on where the search began.
 */
export function scan(
  text: string,
  candidate: RegExp,
  from: number,
  to: number,
  decide: (at: number) => DetectedSpan | null,
): DetectedSpan[] {
  const found: DetectedSpan[] = [];
  candidate.lastIndex = from;
  for (let match = candidate.exec(text); match !== null && match.index < to; match = candidate.exec(text)) {
    const value = decide(match.index);
    if (value === null) {
      candidate.lastIndex = match.index + 1;
      continue;
    }
    found.push(value);
    if (value.tail !== undefined) break;
    candidate.lastIndex = value.end;
  }
  return found;
}
