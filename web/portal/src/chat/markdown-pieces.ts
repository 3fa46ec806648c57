import { markdownBlocks } from "./markdown-blocks.ts";

/** Characters of one piece: what a parser takes grows faster than what it reads. */
const PIECE = 3_000;
/** A paragraph of one line is longer than any that somebody reads. */
const LONGEST = 20_000;
/** Marks that have to be matched with each other, in one piece: to match them takes the square of their number. */
const MOST_MARKS = 1_000;
const MARK = /[*_~[\]<&$`\\@|]/g;
/** Quotes and lists within each other, all of them begun on one line. */
const DEEP = /^[ \t]*(?:(?:>|[-*+][ \t]|\d{1,9}[.)][ \t])[ \t]*){20}/m;
const FENCE = /^ {0,3}(?:`{3}|~{3}|\$\$\s*$)/m;
/** What hangs in the line before, or is a row of a table. */
const CONTINUES = /^(?:\s|\||$)/;

/** A part of an answer that is drawn by itself; `isPlain` where to read it as markdown would hold up the page. */
export interface Piece {
  readonly text: string;
  readonly isPlain: boolean;
}

/** A long list, or lines without an empty one between them, in pieces that begin where nothing hangs in what is before. */
function cut(block: string): string[] {
  if (block.length <= PIECE || FENCE.test(block)) return [block];
  const parts: string[] = [];
  let part = "";
  for (const line of block.split("\n")) {
    if (part.length + line.length > PIECE && part !== "" && !CONTINUES.test(line)) {
      parts.push(part);
      part = line;
    } else part = part === "" ? line : `${part}\n${line}`;
  }
  return [...parts, part];
}

function isTooMuch(text: string): boolean {
  const isCode = /^ {0,3}(?:`{3}|~{3})/.test(text);
  return !isCode && (text.length > LONGEST || DEEP.test(text) || (text.match(MARK)?.length ?? 0) > MOST_MARKS);
}

/** The parts of an answer, none of which takes long to draw. */
export function markdownPieces(text: string): readonly Piece[] {
  return markdownBlocks(text)
    .flatMap(cut)
    .map((piece) => ({ text: piece, isPlain: isTooMuch(piece) }));
}
