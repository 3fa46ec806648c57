import { keepBrowserText, browserText } from "@gatehouse/web-kit/page-storage.ts";
import type { ShownNotice } from "./conversation.ts";

const keyOf = (handle: string) => `gatehouse.notice.${handle}`;

/**
 * Marks the notice's record as sent. Unlike the conversation store, it writes synchronously, so that a reload right afterwards does not
 * send the record again. If the browser stores nothing, the record is sent twice, which is better than never.
 */
export function markNotice(handle: string, notice: ShownNotice): void {
  keepBrowserText("sessionStorage", keyOf(handle), JSON.stringify(notice));
}

export function markedNotice(handle: string): ShownNotice | null {
  const found = browserText("sessionStorage", keyOf(handle));
  return found === null ? null : (JSON.parse(found) as ShownNotice);
}

/** Removes the mark of whatever is stored with the conversation by now; anything newer keeps it. */
export function unmarkNotice(handle: string, kept: ShownNotice): void {
  if (browserText("sessionStorage", keyOf(handle)) === JSON.stringify(kept)) keepBrowserText("sessionStorage", keyOf(handle), null);
}
