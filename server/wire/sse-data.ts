import type { JsonValue } from "./document.ts";

/** The data of one frame, its lines joined as the format says; null for a comment or an event without data. */
export function frameData(frame: string): string | null {
  if (!frame.includes("data:")) return null;
  let data: string | null = null;
  for (const line of frame.split(/\r\n|\n|\r/)) {
    if (!line.startsWith("data:")) continue;
    const value = line.charCodeAt(5) === 32 ? line.slice(6) : line.slice(5);
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
