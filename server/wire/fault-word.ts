import { shortExceptionName } from "./converse/fault.ts";
import { filledOf, objectOf } from "./openai/loose-fields.ts";

/** An identifier from a vendor's error list: letters and underscores only, so that neither a key nor a caller's text can match. */
const WORD = /^[A-Za-z][A-Za-z_]{2,63}$/;
const AMAZONS = "__type";
/** Larger bodies are not errors. */
const MAX_BYTES = 64 * 1024;

/**
 * The provider's error identifier (`context_length_exceeded`, `INVALID_ARGUMENT`) for the audit row; null if there is
 * none. The error message is not recorded: it may quote the caller's text, and rows are kept longer than bodies.
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
  if (bytes.byteLength > MAX_BYTES) return null;
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return null;
  }
}
