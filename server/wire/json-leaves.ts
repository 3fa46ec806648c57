/** Strings, names included, and numbers, wherever they stand. */
const LEAF = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

const QUOTE = 34;

/** What a string of a JSON text says; most say it without escapes. */
export function textOf(token: string): string {
  return token.includes("\\") ? (JSON.parse(token) as string) : token.slice(1, -1);
}

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
    const isText = token.charCodeAt(0) === QUOTE;
    // A measure is nobody's number.
    if (!isText && /[.eE]/.test(token)) return token;
    const leaf = isText ? textOf(token) : token;
    const changed = change(leaf);
    return changed === leaf ? token : JSON.stringify(changed);
  });
}
