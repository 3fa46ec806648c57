/** Normalization takes time with the square of a run of combining marks, and nothing that is governed has a name near this long. */
const LONGEST_NORMALIZED = 256;

/**
 * The name as parsers that do not care about case and form compare it: NFKC and full case folding, by which "ſ" is "s",
 * the Kelvin sign "k" and "ﬀ" "ff". It is for comparing only.
 */
export function folded(given: string): string {
  // Half a surrogate pair is the same unknown character to whoever reads it.
  const name = given.toWellFormed();
  if (name.length > LONGEST_NORMALIZED) return folding(name);
  return folding(name.normalize("NFKC")).normalize("NFKC");
}

/** Up behind down brings together what either leaves apart; only the dotless i folds to itself and has an upper case that others share. */
function folding(text: string): string {
  const lower = text.toLowerCase();
  return lower.includes("ı") ? lower.split("ı").map(upper).join("ı") : upper(lower);
}

const upper = (text: string) => text.toUpperCase();

/** The name of a tool in the spelling that stands for all a server may take for it, which is not ours to know. */
export const toolSpelling = (name: string): string => folded(name.trim());
