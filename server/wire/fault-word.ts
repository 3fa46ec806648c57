import { shortExceptionName } from "./converse/fault.ts";
import { filledOf, objectOf } from "./openai/loose-fields.ts";

/** A name from a vendor's list of errors: letters alone, so that neither a key nor what a caller wrote is one. */
const WORD = /^[A-Za-z][A-Za-z_]{2,63}$/;
const AMAZONS = "__type";
/** No error is longer. */
const MOST_BYTES = 64 * 1024;

/**
 * What the provider calls the error (`context_length_exceeded`, `INVALID_ARGUMENT`), for the row; null where it has no name for it. Its
 * message quotes what the caller wrote, and a row is kept for longer than bodies are.
 */
export function faultWord(bytes: Uint8Array, headers: Headers): string | null {
  const body = parsed(bytes);
  const first = objectOf(Array.isArray(body) ? body[0] : body);
  const error = objectOf(first?.error) ?? first;
  const amazons = [headers.get("x-amzn-errortype"), filledOf(first?.[AMAZONS])].map((type) => shortExceptionName(type ?? ""));
  const found = [error?.code, error?.status, error?.type, ...amazons].find((name) => typeof name === "string" && WORD.test(name));
  return typeof found === "string" ? found : null;
}

function parsed(bytes: Uint8Array): unknown {
  if (bytes.byteLength > MOST_BYTES) return null;
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return null;
  }
}
