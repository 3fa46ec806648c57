import { isObject, type JsonValue } from "../../wire/document.ts";

/** Who may read a file, by its path; an empty list is nobody. */
export type PermissionsOf = (path: string) => readonly string[];

const MOST = 10_000;

/**
 * Reads the mapping of a source: an object whose members are beginnings of paths, each with those who read what lies
 * there; the longest that fits decides, and a file that none fits is nobody's. `null` where it is no such mapping.
 */
export function readPermissions(bytes: Uint8Array): PermissionsOf | null {
  let value: JsonValue;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as JsonValue;
  } catch {
    return null;
  }
  if (!isObject(value)) return null;
  const entries = Object.entries(value);
  if (entries.length > MOST || !entries.every(([, who]) => Array.isArray(who) && who.every(isIdentity))) return null;
  const beginnings = (entries as [string, string[]][]).toSorted(([a], [b]) => b.length - a.length);
  return (path) => beginnings.find(([beginning]) => fits(beginning, path))?.[1] ?? [];
}

const isIdentity = (who: JsonValue) => typeof who === "string" && who.trim() === who && who.length > 0 && who.length <= 300;

/** Whole names only: `hr` is the folder, or the file, and not `hrold`. */
const fits = (beginning: string, path: string) => {
  const folder = beginning.replace(/\/+$/, "");
  return folder === "" || path === folder || path.startsWith(`${folder}/`);
};
