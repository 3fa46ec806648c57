/** Zero-width and bidirectional characters and the tag block: invisible to people but read by models. */
const INVISIBLE = /[\u00AD\u200B-\u200F\u202A-\u202E\u2060-\u206F\uFEFF]|[\u{E0000}-\u{E007F}]/gu;

export function visibleText(text: string): string {
  return text.replaceAll(INVISIBLE, "");
}
