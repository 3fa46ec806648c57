import { isObject, type JsonValue } from "../../kernel/json-value.ts";

/** Who may read a file, by its path; an empty list is nobody. */
export type PermissionsOf = (path: string) => readonly string[];

const MOST = 10_000;
const MOST_BYTES = 4 * 1024 * 1024;

/**
 * Reads the mapping of a source: an object whose members are beginnings of paths, each with those who read what lies
 * there; the longest that fits decides, and a file that none fits is nobody's. `null` where it is no such mapping.
 */
export function readPermissions(bytes: Uint8Array): PermissionsOf | null {
  let value: JsonValue;
  if (bytes.byteLength > MOST_BYTES) return null;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as JsonValue;
  } catch {
    return null;
  }
  if (!isObject(value)) return null;
  const entries = Object.entries(value);
  if (entries.length > MOST || !entries.every(([, who]) => Array.isArray(who) && who.length <= MOST && who.every(isIdentity))) return null;
  const readers = new Map(
    (entries as [string, string[]][]).toSorted(([a], [b]) => a.length - b.length).map(([at, who]) => [folderOf(at), who]),
  );
  // Whole names only: `hr` is the folder, or the file, and not `hrold`. A source may hold many files, and its mapping many beginnings.
  return (path) => {
    for (let beginning = path; beginning !== ""; beginning = beginning.slice(0, Math.max(0, beginning.lastIndexOf("/")))) {
      const who = readers.get(beginning);
      if (who !== undefined) return who;
    }
    return readers.get("") ?? [];
  };
}

const isIdentity = (who: JsonValue) => typeof who === "string" && who.trim() === who && who.length > 0 && who.length <= 300;

/** Without slashes at its end, of which there may be very many. */
function folderOf(beginning: string): string {
  let end = beginning.length;
  while (end > 0 && beginning[end - 1] === "/") end--;
  return beginning.slice(0, end);
}
