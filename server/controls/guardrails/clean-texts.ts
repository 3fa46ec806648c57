import { detachedString } from "../../kernel/text/detached-string.ts";
import type { TextGuard } from "./text-guard.ts";

/** Texts found clean, by guard. The result depends only on text and guard; turns, definitions and tool results recur. */

/** Longest text worth remembering, in characters. */
const MAX_LENGTH = 16 * 1024;
/** Characters kept for all guards, in each of two generations; when one is full, texts not used since the last switch are dropped. */
const MAX = 8 * 1024 * 1024;
/** Overhead of an entry, counted as characters. */
const ENTRY = 64;

type Texts = WeakMap<TextGuard, Set<string>>;

let recent: Texts = new WeakMap();
let before: Texts = new WeakMap();
let characters = 0;

/** Whether this guard inspected the same text before and found nothing. */
export function isKnownClean(guard: TextGuard, text: string): boolean {
  if (text.length > MAX_LENGTH) return false;
  if (recent.get(guard)?.has(text) === true) return true;
  if (before.get(guard)?.has(text) !== true) return false;
  noteClean(guard, text);
  return true;
}

/** Remembers that a complete inspection of the text found nothing. */
export function noteClean(guard: TextGuard, text: string): void {
  // Lone surrogates would be stored as other characters, as a text that was never inspected.
  if (text.length > MAX_LENGTH || !text.isWellFormed()) return;
  characters += text.length + ENTRY;
  if (characters > MAX) {
    before = recent;
    recent = new WeakMap();
    characters = text.length + ENTRY;
  }
  let texts = recent.get(guard);
  if (texts === undefined) recent.set(guard, (texts = new Set()));
  texts.add(detachedString(text));
}
