/** Strings, names included, and numbers, wherever they stand. */
const LEAF = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/**
 * Writes a JSON text anew with its strings, names and whole numbers as `change` gives them; what `change` leaves as it is keeps
 * its exact spelling, and a number that is changed becomes a string. Null when the text is not JSON.
 */
export function replaceLeaves(json: string, change: (leaf: string) => string): string | null {
  try {
    JSON.parse(json);
  } catch {
    return null;
  }
  return json.replace(LEAF, (token) => {
    // A measure is nobody's number.
    if (/^-?\d+[.eE]/.test(token)) return token;
    const leaf = token.startsWith('"') ? (JSON.parse(token) as string) : token;
    const changed = change(leaf);
    return changed === leaf ? token : JSON.stringify(changed);
  });
}
