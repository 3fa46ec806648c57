import type { JsonValue } from "../../kernel/json-value.ts";

const SPACE = 32;

/**
 * Says that a stream is alive to whoever waits for bytes, and nothing to whoever reads them. One line without a blank one behind it, by
 * which many releases of OpenAI's clients for Go and Python take it for an event whose data is empty, and fail.
 */
export const COMMENT_LINE = new TextEncoder().encode(": keep-alive\n");

/** The data of one frame, its lines joined as the format says; null for a comment or an event without data. */
export function frameData(frame: string): string | null {
  if (!frame.includes("data:")) return null;
  return isOneLine(frame) ? frame.slice(frame.charCodeAt(5) === SPACE ? 6 : 5, -2) : joinedLines(frame);
}

/** Whether a frame is what nearly all are: one line of data, ended with LF. */
export function isOneLine(frame: string): boolean {
  return frame.startsWith("data:") && frame.endsWith("\n\n") && frame.indexOf("\n") === frame.length - 2 && !frame.includes("\r");
}

function joinedLines(frame: string): string | null {
  let data: string | null = null;
  for (const line of frame.split(/\r\n|\n|\r/)) {
    if (!line.startsWith("data:")) continue;
    const value = line.charCodeAt(5) === SPACE ? line.slice(6) : line.slice(5);
    data = data === null ? value : `${data}\n${value}`;
  }
  return data;
}

const LINE_BREAKS = /[\u0085\u2028\u2029]/g;

/** A value as the data of one line: JSON lets breaks stand in a text at which many clients end a line, Python's among them. */
export function lineJson(value: JsonValue): string {
  return JSON.stringify(value).replace(LINE_BREAKS, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Whether what a sender left without a blank line is an event all the same, and not the torn beginning of one. */
export function isWholeEvent(rest: Uint8Array): boolean {
  const data = frameData(new TextDecoder().decode(rest));
  if (data === null) return false;
  if (data === "[DONE]") return true;
  try {
    JSON.parse(data);
    return true;
  } catch {
    return false;
  }
}
