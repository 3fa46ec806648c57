import { keepBrowserText, browserText } from "@gatehouse/web-kit/page-storage.ts";
import type { ShownNotice } from "./conversation.ts";

const keyOf = (handle: string) => `gatehouse.notice.${handle}`;

/**
 * Notes what of a conversation's notice has left. Unlike the conversations' own storage it holds what it is given at once,
 * so that a page which is loaded anew right after does not send the record a second time. A browser that keeps nothing sends it
 * once more, which is better than not at all.
 */
export function markNotice(handle: string, notice: ShownNotice): void {
  keepBrowserText("sessionStorage", keyOf(handle), JSON.stringify(notice));
}

export function markedNotice(handle: string): ShownNotice | null {
  const found = browserText("sessionStorage", keyOf(handle));
  return found === null ? null : (JSON.parse(found) as ShownNotice);
}

/** What is kept with the conversation itself by now needs no mark; what came after it does. */
export function unmarkNotice(handle: string, kept: ShownNotice): void {
  if (browserText("sessionStorage", keyOf(handle)) === JSON.stringify(kept)) keepBrowserText("sessionStorage", keyOf(handle), null);
}
