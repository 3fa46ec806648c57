import { type Detector, type DetectedSpan, LEFT, WINDOW } from "./detector.ts";
import { foldText } from "./folded-text.ts";
import { foldWord, readingsOf, WordCursor, WordHashes } from "./words.ts";

/** Longest entry that can be found, in characters. */
const MAX_ENTRY_LENGTH = WINDOW - 2;

/** A trie node. Keys are words, prefixed by a space if white space precedes them. */
interface Node {
  readonly next: Map<string, Node>;
  ends: boolean;
}

const newNode = (): Node => ({ next: new Map(), ends: false });

/** Result of following the entries from a word: the end of the longest match, and whether more text could change it. */
interface Followed {
  readonly end: number | null;
  readonly open: boolean;
}

const NOTHING: Followed = { end: null, open: false };

/** The entries as a trie of words, and hashes of their first words, so that most words need no look-up. */
interface Entries {
  readonly root: Node;
  readonly firstWords: WordHashes;
}

function compileEntries(entries: readonly string[]): Entries {
  const root = newNode();
  for (const entry of entries) {
    if (entry.length > MAX_ENTRY_LENGTH) continue;
    const { text } = foldText(entry);
    const word = new WordCursor(text);
    let node = root;
    for (let end = 0; word.next(end); end = word.end) {
      const key = (node !== root && word.start > end ? " " : "") + foldWord(text.slice(word.start, word.end));
      let next = node.next.get(key);
      if (next === undefined) node.next.set(key, (next = newNode()));
      node = next;
    }
    if (node !== root) node.ends = true;
  }
  return { root, firstWords: new WordHashes(root.next.keys()) };
}

/** The child of `node` for a word of the text, with or without white space before it. */
function step(node: Node, space: "" | " ", word: string): Node | undefined {
  for (const reading of readingsOf(word)) {
    const next = node.next.get(space + reading);
    if (next !== undefined) return next;
  }
  return undefined;
}

/** Follows the entries from the word at `cursor`, which it moves. */
function follow({ root, firstWords }: Entries, text: string, cursor: WordCursor): Followed {
  const { start } = cursor;
  if (cursor.end < text.length && !cursor.mayBeOf(firstWords)) return NOTHING;
  const limit = start + WINDOW;
  const first = step(root, "", text.slice(start, cursor.end));
  if (first === undefined) return cursor.end === text.length ? { end: null, open: true } : NOTHING;
  if (cursor.end >= limit) return NOTHING;
  let node = first;
  let end = node.ends ? cursor.end : null;
  for (;;) {
    const last = cursor.end;
    if (last === text.length) return { end, open: true };
    if (node.next.size === 0) return { end, open: false };
    if (!cursor.next(last)) return { end, open: true };
    if (cursor.end >= limit) return { end, open: false };
    const next = step(node, cursor.start > last ? " " : "", text.slice(cursor.start, cursor.end));
    if (next === undefined) return { end, open: cursor.end === text.length };
    node = next;
    if (node.ends) end = cursor.end;
  }
}

const MARK = /^\p{M}/u;

/** Start of the character that contains the offset `at`. */
function characterStart(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return at > 0 && code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}

/** An offset at or before `at` from which words are split as they are from the start of the text. */
function footing(text: string, at: number): number {
  const least = Math.max(0, at - LEFT + 2);
  let place = characterStart(text, at);
  // A mark belongs to the character before it, which also decides whether letters after the mark continue a word.
  while (place > least && MARK.test(text.slice(place, place + 2))) place = characterStart(text, place - 1);
  return place;
}

/** Moves to the first word that starts at or after `from`, skipping the rest of a word that started before. False if there is none. */
function toWord(text: string, cursor: WordCursor, from: number): boolean {
  let there = cursor.next(from === 0 ? 0 : footing(text, from - 1));
  while (there && cursor.start < from) there = cursor.next(cursor.end);
  return there;
}

/**
 * Banned entries as whole words, after case folding, NFKC and removal of invisible characters; a word mixing
 * look-alike letters of two scripts is read in either. An entry of several words matches them in order with any white
 * space between. Costs one look-up per word of text, however many entries. Entries longer than 94 characters or
 * without a visible one match nothing. The longest entry at a place wins.
 */
export function bannedWords(entries: readonly string[]): Detector {
  const compiled = compileEntries(entries);
  return {
    check: "banned_words",
    maxLength: MAX_ENTRY_LENGTH,
    find(text, from, to) {
      const found: DetectedSpan[] = [];
      const cursor = new WordCursor(text);
      for (let there = toWord(text, cursor, from); there && cursor.start < to;) {
        const { start, end: wordEnd } = cursor;
        const { end } = follow(compiled, text, cursor);
        if (end !== null) found.push({ category: "banned_word", start, end, score: 1 });
        there = cursor.nextOf(compiled.firstWords, end ?? wordEnd, to);
      }
      return found;
    },
    openFrom(text) {
      const cursor = new WordCursor(text);
      for (let there = toWord(text, cursor, Math.max(0, text.length - WINDOW)); there;) {
        const { start, end } = cursor;
        // A word that may go on is open, whatever it is.
        if (end === text.length && end - start < WINDOW) return start;
        if (follow(compiled, text, cursor).open) return start;
        there = cursor.next(end);
      }
      return text.length;
    },
  };
}
