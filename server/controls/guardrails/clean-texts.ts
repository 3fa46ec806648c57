import { detachedString } from "../../kernel/text/detached-string.ts";
import type { TextGuard } from "./text-guard.ts";

/**
 * Texts that hold nothing, by guard: what a text holds depends on nothing but the text and the guard, and the turns of
 * a conversation, the definitions of tools and what tools answer come again and again.
 */

/** Characters of a text that is worth keeping. */
const LONGEST = 16 * 1024;
/** Characters kept of all texts of all guards, twice: what was not asked for since the last time they were full is dropped. */
const MOST = 8 * 1024 * 1024;
/** What an entry takes beside its characters. */
const ENTRY = 64;

type Texts = WeakMap<TextGuard, Set<string>>;

let recent: Texts = new WeakMap();
let before: Texts = new WeakMap();
let characters = 0;

/** Whether this guard inspected the same text before and found nothing. */
export function isKnownClean(guard: TextGuard, text: string): boolean {
  if (text.length > LONGEST) return false;
  if (recent.get(guard)?.has(text) === true) return true;
  if (before.get(guard)?.has(text) !== true) return false;
  noteClean(guard, text);
  return true;
}

/** Remembers that a complete inspection of the text found nothing. */
export function noteClean(guard: TextGuard, text: string): void {
  // Half a surrogate pair would be kept as another character, in a text nobody has looked at.
  if (text.length > LONGEST || !text.isWellFormed()) return;
  characters += text.length + ENTRY;
  if (characters > MOST) {
    before = recent;
    recent = new WeakMap();
    characters = text.length + ENTRY;
  }
  let texts = recent.get(guard);
  if (texts === undefined) recent.set(guard, (texts = new Set()));
  texts.add(detachedString(text));
}
