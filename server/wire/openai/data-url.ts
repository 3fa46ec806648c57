import type { MediaSource } from "../conversation/conversation-parts.ts";

const DATA_URL = /^data:([^;,]*)((?:;[^;,]*)*?);base64,/;

/** The content of an image or file URL: inline base64 with its type, or the URL itself. Null for inline data in another encoding. */
export function sourceOfUrl(url: string): { readonly source: MediaSource; readonly mediaType: string | null } | null {
  const head = DATA_URL.exec(url);
  if (head !== null) return { source: { base64: url.slice(head[0].length) }, mediaType: head[1] === "" ? null : (head[1] ?? null) };
  return url.startsWith("data:") ? null : { source: { url }, mediaType: null };
}

export function dataUrl(base64: string, mediaType: string): string {
  return `data:${mediaType};base64,${base64}`;
}
