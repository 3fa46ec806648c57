import { afterString, CLOSE_BRACE, CLOSE_BRACKET, OPEN_BRACE, OPEN_BRACKET, QUOTE } from "./json-members.ts";

/** Whether objects and arrays of the text stand within each other in more levels than that. The text must be JSON. */
export function isNestedDeeper(text: string, levels: number): boolean {
  // What opens has to close.
  if (text.length <= levels * 2) return false;
  let open = 0;
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at);
    if (code === OPEN_BRACE || code === OPEN_BRACKET) open++;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) open--;
    if (open > levels) return true;
    at = code === QUOTE ? afterString(text, at) : at + 1;
  }
  return false;
}
