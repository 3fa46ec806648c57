import { isObject, type JsonValue } from "../../kernel/json-value.ts";

/** Who may read the file at a path; an empty list means nobody. */
export type PermissionsOf = (path: string) => readonly string[];

const MAX = 10_000;
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Parses a source's permission mapping: a JSON object from path prefixes to the identities that may read below them. The longest matching
 * prefix decides; nobody may read a file that none matches. Returns null for an invalid mapping.
 */
export function readPermissions(bytes: Uint8Array): PermissionsOf | null {
  let value: JsonValue;
  if (bytes.byteLength > MAX_BYTES) return null;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as JsonValue;
  } catch {
    return null;
  }
  if (!isObject(value)) return null;
  const entries = Object.entries(value);
  if (entries.length > MAX || !entries.every(([, who]) => Array.isArray(who) && who.length <= MAX && who.every(isIdentity))) return null;
  const readers = new Map(
    (entries as [string, string[]][]).toSorted(([a], [b]) => a.length - b.length).map(([at, who]) => [folderOf(at), who]),
  );
  // Prefixes match whole path segments: `hr` does not match `hrold`. Looking up each parent folder stays fast with many files and prefixes.
  return (path) => {
    for (let beginning = path; beginning !== ""; beginning = beginning.slice(0, Math.max(0, beginning.lastIndexOf("/")))) {
      const who = readers.get(beginning);
      if (who !== undefined) return who;
    }
    return readers.get("") ?? [];
  };
}

const isIdentity = (who: JsonValue) => typeof who === "string" && who.trim() === who && who.length > 0 && who.length <= 300;

/** Strips trailing slashes. A loop, because a regular expression would be slow with very many of them. */
function folderOf(beginning: string): string {
  let end = beginning.length;
  while (end > 0 && beginning[end - 1] === "/") end--;
  return beginning.slice(0, end);
}
