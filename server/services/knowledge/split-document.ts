import { estimateTokens } from "../../wire/usage.ts";
import { type Section, UnreadableDocument } from "./reading/document-text.ts";

/** The unit that is found and quoted. */
export interface SplitPassage {
  /** The headings above it. */
  readonly heading: string;
  readonly text: string;
  readonly tokens: number;
}

/** In characters, about 400 tokens: recursive splitting into 200 to 512 tokens retrieves best. */
const MAX_LENGTH = 1_600;
/** Characters repeated from the previous passage, so that statements across the boundary are found. */
const OVERLAP = 200;
const MAX_PASSAGES = 20_000;

/** Splits at headings, then between paragraphs, then between sentences, then between words. Throws `UnreadableDocument`. */
export function splitDocument(sections: readonly Section[]): SplitPassage[] {
  const passages: SplitPassage[] = [];
  for (const { headings, blocks } of sections) {
    const heading = headings.join(" > ");
    for (const text of joined(pieces(blocks))) {
      if (passages.length === MAX_PASSAGES)
        throw new UnreadableDocument(`It has more than ${MAX_PASSAGES} passages: split it into several.`);
      passages.push({ heading, text, tokens: estimateTokens(Buffer.byteLength(text)) });
    }
  }
  return passages;
}

/** Joins pieces up to the length of a passage. Each further passage begins with the last sentences of the previous one. */
function* joined(parts: Iterable<string>): Generator<string> {
  let current = "";
  for (const part of parts) {
    if (current !== "" && current.length + 2 + part.length > MAX_LENGTH) {
      yield current;
      const before = lastWords(current);
      current = before === "" || before.length + 2 + part.length > MAX_LENGTH ? "" : before;
    }
    current = current === "" ? part : `${current}\n\n${part}`;
  }
  if (current !== "") yield current;
}

function lastWords(text: string): string {
  const end = text.slice(-OVERLAP);
  const start = /[.!?\n]\s+\S/.exec(end);
  return start === null ? "" : end.slice(start.index + start[0].length - 1);
}

/** A generator, because a document may have millions of blocks. */
function* pieces(blocks: readonly string[]): Generator<string> {
  for (const block of blocks) {
    let rest = block.trim();
    while (rest.length > MAX_LENGTH) {
      const at = borderIn(rest.slice(0, MAX_LENGTH));
      yield rest.slice(0, at).trim();
      rest = rest.slice(at).trimStart();
    }
    if (rest !== "") yield rest;
  }
}

function borderIn(text: string): number {
  const least = text.length / 2;
  for (const border of [/\n(?=[^\n]*$)/, /[.!?。！？][\s"')\]]*(?=[^.!?。！？]*$)/, /\s(?=\S*$)/]) {
    const found = border.exec(text.slice(least));
    if (found !== null) return least + found.index + found[0].length;
  }
  // Never split a surrogate pair.
  return /[\uD800-\uDBFF]$/.test(text) ? text.length - 1 : text.length;
}
