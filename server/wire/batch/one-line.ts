import { afterString, QUOTE } from "../json/json-members.ts";

/** The JSON text on one line, otherwise unchanged; null if it is not valid JSON. */
export function oneLine(text: string): string | null {
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  if (!text.includes("\n") && !text.includes("\r")) return text;
  let out = "";
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at);
    const end = code === QUOTE ? afterString(text, at) : at + 1;
    if (code > 32) out += text.slice(at, end);
    at = end;
  }
  return out;
}
