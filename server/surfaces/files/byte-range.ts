import type { Call } from "../../road/call.ts";
import type { CallerFile } from "../../services/files/caller.ts";

/** The single range requested; null if there is none or it is not understood, which the protocol says to ignore. */
export function byteRangeOf(
  { headers }: Call,
  file: CallerFile,
): { readonly start: number; readonly end: number } | "unsatisfiable" | null {
  const rangeMatch = /^bytes=([0-9]{0,15})-([0-9]{0,15})$/i.exec(headers.get("range") ?? "");
  const unless = headers.get("if-range");
  if (rangeMatch === null || (unless !== null && unless !== `"${file.content_hash}"`)) return null;
  const [, from = "", to = ""] = rangeMatch;
  const size = file.size_bytes;
  if (from === "")
    return to === "" ? null : size === 0 || Number(to) === 0 ? "unsatisfiable" : { start: Math.max(0, size - Number(to)), end: size };
  const start = Number(from);
  const end = to === "" ? size : Math.min(Number(to) + 1, size);
  if (to !== "" && Number(to) < start) return null;
  return start >= size ? "unsatisfiable" : { start, end };
}
