import type { ShownNotice } from "./conversation.ts";

const keyOf = (handle: string) => `gatehouse.notice.${handle}`;

/**
 * Notes what of a conversation's notice has left. Unlike the conversations' own storage it holds what it is given at once,
 * so that a page which is loaded anew right after does not send the record a second time.
 */
export function markNotice(handle: string, notice: ShownNotice): void {
  try {
    sessionStorage.setItem(keyOf(handle), JSON.stringify(notice));
  } catch {
    // A browser that keeps nothing for pages sends the record once more, which is better than not at all.
  }
}

export function markedNotice(handle: string): ShownNotice | null {
  const found = sessionStorage.getItem(keyOf(handle));
  return found === null ? null : (JSON.parse(found) as ShownNotice);
}

/** What is kept with the conversation itself by now needs no mark; what came after it does. */
export function unmarkNotice(handle: string, kept: ShownNotice): void {
  if (sessionStorage.getItem(keyOf(handle)) === JSON.stringify(kept)) sessionStorage.removeItem(keyOf(handle));
}
