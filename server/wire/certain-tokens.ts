const SPACE = 0x20;

/**
 * Whether texts certainly have more tokens than this: no tokenizer in use makes less than one token of a word, as runs of other characters
 * than spaces are counted here.
 */
export function haveMoreTokensThan(tokens: number, texts: Iterable<string>): boolean {
  let words = 0;
  for (const text of texts) {
    let within = false;
    for (let at = 0; at < text.length; at++) {
      const isSpace = text.charCodeAt(at) <= SPACE;
      if (!isSpace && !within && ++words > tokens) return true;
      within = !isSpace;
    }
  }
  return false;
}
