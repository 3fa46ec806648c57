/** Normalization takes quadratic time on runs of combining marks, and no governed name is nearly this long. */
const MAX_NORMALIZED_LENGTH = 256;

/**
 * The name as parsers that ignore case and form compare it: NFKC and full case folding, by which "ſ" is "s", the Kelvin sign "k" and "ﬀ"
 * "ff". Only for comparison.
 */
export function folded(given: string): string {
  // Every reader sees the same replacement character for a lone surrogate.
  const name = given.toWellFormed();
  if (name.length > MAX_NORMALIZED_LENGTH) return folding(name);
  return folding(name.normalize("NFKC")).normalize("NFKC");
}

/**
 * Lower-casing and then upper-casing merges what either alone would keep apart. The exception is the dotless i, which folds to itself but
 * shares its upper case with others.
 */
function folding(text: string): string {
  const lower = text.toLowerCase();
  return lower.includes("ı") ? lower.split("ı").map(upper).join("ı") : upper(lower);
}

const upper = (text: string) => text.toUpperCase();

/** A canonical spelling of a tool name that equals all spellings a server might accept for it. */
export const toolSpelling = (name: string): string => folded(name.trim());
