import type { InTurns } from "../../../kernel/scheduling/in-turns.ts";
import type { Frame } from "../../../road/output/frames.ts";
import { frameData } from "../../../wire/streams/sse-data.ts";
import type { GuardRun } from "../guard-run.ts";

const decoder = new TextDecoder();
const encoder = new TextEncoder();
const BREAKS = /\r\n|\n|\r/;
/** Characters that some clients, such as Python's, treat as line ends, reading what follows as data. */
// oxlint-disable-next-line no-control-regex -- they are the ones meant
const ODD_BREAKS = /[\v\f\x1c-\x1e\u0085\u2028\u2029]/;

/**
 * Removes the lines beside a frame's data (comments, event names, IDs) in which anything is found, and data that is
 * not a JSON object, which no client of a model reads. Null if nothing is left.
 */
export function* withoutFoundLines(frame: Frame, run: GuardRun): InTurns<Frame | null> {
  const { bytes, body, beside, closes } = frame;
  if (body === null && !closes) {
    const text = decoder.decode(bytes);
    for (const line of text.split(BREAKS)) if ((yield* run.text(line)) !== line) return null;
    return run.blocked === null && !ODD_BREAKS.test(text) ? frame : null;
  }
  if (beside === undefined) return frame;
  const kept: string[] = [];
  for (const line of beside) if ((yield* run.text(line)) === line && !ODD_BREAKS.test(line)) kept.push(line);
  if (run.blocked !== null) return null;
  if (kept.length === beside.length) return frame;
  const text = decoder.decode(bytes);
  const data = (frameData(text) ?? JSON.stringify(body)).split("\n").map((line) => `data: ${line}`);
  return { ...frame, bytes: encoder.encode([...kept, ...data, "", ""].join("\n")), beside: kept };
}
