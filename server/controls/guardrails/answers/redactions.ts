import type { CitedPassage } from "../../../wire/texts/answer-texts.ts";
import { TextPositions } from "../../../wire/texts/text-positions.ts";
import { type GuardedFinding, placeholder } from "./hold-back.ts";

/** A range of a text, and the placeholder in its place. */
export interface Redaction {
  readonly start: number;
  end: number;
  readonly placeholder: string;
}

/** How positions move; null if the text was not changed. */
export type PositionMove = KnownMove | typeof UNKNOWN_MOVE | null;

/** The text was changed in a way that is not known any more. */
export const UNKNOWN_MOVE = "unknown";

interface KnownMove {
  readonly left: string;
  readonly from: TextPositions;
  readonly to: TextPositions;
  readonly redactions: readonly Redaction[];
}

export function redactionMove(came: string, redactions: readonly Redaction[], unit: CitedPassage["unit"]): KnownMove {
  let left = "";
  let at = 0;
  for (const { start, end, placeholder: written } of redactions) {
    left += came.slice(at, start) + written;
    at = end;
  }
  left += came.slice(at);
  return { left, from: new TextPositions(unit, came), to: new TextPositions(unit, left), redactions };
}

/** A position within a redacted value becomes the start or end of the placeholder. */
export function movePassage({ holder, start, end, repeats }: CitedPassage, move: NonNullable<PositionMove>): boolean {
  const given = [start, end].map((key) => (typeof holder[key] === "number" ? holder[key] : 0));
  if (move === UNKNOWN_MOVE) {
    holder[start] = holder[end] = 0;
    return given.some((position) => position !== 0);
  }
  const { from, to, redactions, left } = move;
  const [first, last] = given.map((position) => from.from(position));
  if (first == null || last == null) return false;
  const moved = [movedPosition(first, redactions, start === end), movedPosition(last, redactions, true)] as const;
  // Google leaves out a position of 0.
  if (holder[start] !== undefined || moved[0] > 0) holder[start] = to.of(moved[0]);
  holder[end] = to.of(moved[1]);
  if (repeats !== undefined && typeof holder[repeats] === "string") holder[repeats] = left.slice(...moved);
  return true;
}

/** Redactions in a part of a text; a value that crosses parts is replaced in the first of them. */
export function redactionsWithin(redactions: readonly Redaction[], from: number, to: number): Redaction[] {
  return redactions
    .filter(({ start, end }) => start < to && end > from)
    .map(({ start, end, placeholder: written }) => ({
      start: Math.max(0, start - from),
      end: Math.min(end, to) - from,
      placeholder: start < from ? "" : written,
    }));
}

function movedPosition(position: number, redactions: readonly Redaction[], isEnd: boolean): number {
  let shift = 0;
  for (const {
    start,
    end,
    placeholder: { length },
  } of redactions) {
    if (position <= start) break;
    if (position < end) return start + shift + (isEnd ? length : 0);
    shift += length - (end - start);
  }
  return position + shift;
}

export const isRedacted = ({ action }: GuardedFinding): boolean => action === "redact";

/** Findings that overlap are replaced together, by the placeholder of the first. */
export function redactionsOf(findings: readonly GuardedFinding[], before: number): Redaction[] {
  const redactions: Redaction[] = [];
  for (const { start, end, category, written } of findings.filter(isRedacted)) {
    const last = redactions.at(-1);
    if (last !== undefined && start - before < last.end) last.end = Math.max(last.end, end - before);
    else redactions.push({ start: Math.max(0, start - before), end: end - before, placeholder: written ?? placeholder(category) });
  }
  return redactions;
}
