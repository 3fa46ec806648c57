import type { JsonValue } from "../../kernel/json-value.ts";

const SPACE = 32;

/**
 * Keep-alive comment. A single line without a blank line after it: many releases of OpenAI's Go and Python clients take a
 * comment with one for an event with empty data, and fail.
 */
export const COMMENT_LINE = new TextEncoder().encode(": keep-alive\n");

/** The data of one frame, its lines joined by the SSE rules; null for a comment or an event without data. */
export function frameData(frame: string): string | null {
  if (!frame.includes("data:")) return null;
  return isOneLine(frame) ? frame.slice(frame.charCodeAt(5) === SPACE ? 6 : 5, -2) : joinedLines(frame);
}

/** Whether a frame has the most common form: one data line, ended with LF. */
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

/** Serializes a value as one data line. JSON allows line breaks such as U+2028 in strings, where Python and other clients would split. */
export function lineJson(value: JsonValue): string {
  return JSON.stringify(value).replace(LINE_BREAKS, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Whether bytes without a final blank line are nevertheless a complete event, rather than a truncated one. */
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
