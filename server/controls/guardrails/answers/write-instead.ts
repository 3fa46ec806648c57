import type { GuardRule } from "../text-guard.ts";

/** What is written in place of a value that `rules` redact, other than the usual placeholder; null for that. */
export type WriteInstead = (value: string, category: string, rules: readonly GuardRule[]) => string | null;

/**
 * As `write`, for a value in JSON that is `within` a string or outside; null if it is in other text. A value that is to stay
 * is returned as it was written.
 */
export function writtenInJson(
  write: WriteInstead,
  value: string,
  within: boolean | null,
  category: string,
  rules: readonly GuardRule[],
): string | null {
  if (within === null) return write(value, category, rules);
  const read = within ? readString(value) : value;
  if (read === null) return null;
  const written = write(read, category, rules);
  if (written === null || written === read) return written === null ? null : value;
  const json = JSON.stringify(written);
  return within ? json.slice(1, -1) : json;
}

/** Null if an escape is cut off. */
function readString(written: string): string | null {
  if (!written.includes("\\")) return written;
  try {
    return JSON.parse(`"${written}"`) as string;
  } catch {
    return null;
  }
}
