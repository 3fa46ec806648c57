import { type Analyzer, NOTHING_TO_PREPARE, unreadable } from "./analyzer.ts";

const MAX_LENGTH = 16 * 1024;
const MAX_DECODINGS = 4;

/**
 * File paths of any operating system. A path may be decoded before it reaches the disk, so it is judged as written and
 * after each percent-decoding, with both kinds of slashes and with look-alikes of dots and slashes. A relative path
 * counts as relative to each absolute root. Symbolic links are not followed; that is up to whoever opens the file.
 */
export const pathAnalyzer: Analyzer = {
  prepare: NOTHING_TO_PREPARE,
  inspect(value) {
    if (typeof value !== "string") return unreadable("The argument is not text.");
    const readings = value.length > MAX_LENGTH ? null : readingsOf(value);
    if (readings === null) return unreadable("The argument is not a path that can be read in only one way.");
    return {
      unparseable: null,
      holds(denyIf, values) {
        if (denyIf === "traversal") return readings.some((reading) => segmentsOf(reading).some(isParent));
        return denyIf === "outside_roots" && readings.some((reading) => isOutside(reading, values));
      },
    };
  },
};

/** Each form in which the path may arrive; null if systems would read it differently. */
function readingsOf(text: string): string[] | null {
  const readings: string[] = [];
  let current = text;
  for (let round = 0; ; round++) {
    if (/\p{Cc}/u.test(current)) return null;
    readings.push(normalised(current));
    const decoded = percentDecoded(current);
    if (decoded === current) return readings;
    if (decoded === null || round === MAX_DECODINGS) return null;
    current = decoded;
  }
}

/** Decodes valid escapes and leaves a bare `%` alone; null for bytes that are not UTF-8, such as overlong dots. */
function percentDecoded(text: string): string | null {
  const unicode = text.replace(/%u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  try {
    return unicode.replace(/(?:%[0-9a-f]{2})+/gi, (run) => decodeURIComponent(run));
  } catch {
    return null;
  }
}

function normalised(text: string): string {
  return text
    .normalize("NFKC")
    .replace(/\p{Cf}/gu, "")
    .replace(/[\u2024\u3002\uFF61]/g, ".")
    .replace(/[\\\u2044\u2215\u29F5\u29F8\uFF0F]/g, "/")
    .trim()
    .replace(/^file:(?:\/\/(?:localhost)?(?=\/))?/i, "");
}

function segmentsOf(path: string): string[] {
  return path.split("/").filter((segment) => segment !== "" && segment !== ".");
}

/** Windows drops trailing spaces and dots of a name, so `.. ` and `.. .` are parents as well; `...` is a name, or a Go pattern. */
function isParent(segment: string): boolean {
  return /^\s*\.\.(?:\s[\s.]*)?$/.test(segment);
}

function isAbsolute(path: string): boolean {
  return path.startsWith("/") || /^[a-z]:/i.test(path);
}

/** The path's segments with `..` resolved; null if it climbs above its start. */
function resolved(path: string): string[] | null {
  const out: string[] = [];
  for (const segment of segmentsOf(path)) {
    if (!isParent(segment)) out.push(segment);
    else if (out.pop() === undefined) return null;
  }
  return out;
}

function isOutside(path: string, roots: readonly string[]): boolean {
  // The shell or system would substitute these by something unknown.
  if (/^~|^\$|^%[^%]+%|^[a-z]:(?!\/)/i.test(path)) return true;
  const inner = resolved(path);
  return inner === null || !roots.some((root) => isInside(path, inner, root));
}

function isInside(path: string, inner: readonly string[], root: string): boolean {
  const base = normalised(root);
  if (isAbsolute(path) && !isAbsolute(base)) return false;
  if (path.startsWith("//") !== base.startsWith("//") && isAbsolute(path)) return false;
  const outer = resolved(base);
  if (outer === null) return false;
  if (!isAbsolute(path) && isAbsolute(base)) return true;
  const same = (a: string, b: string | undefined) => a === b || (/^[a-z]:$/i.test(a) && a.toLowerCase() === b?.toLowerCase());
  return outer.every((segment, index) => same(segment, inner[index]));
}
