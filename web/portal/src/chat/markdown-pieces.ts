import { markdownBlocks } from "./markdown-blocks.ts";

/** Most characters per piece: parse time grows faster than linearly. */
const PIECE = 3_000;
/** A longer single-line paragraph is treated as plain text. */
const MAX_LENGTH = 20_000;
/** Most delimiters in one piece: matching them takes quadratic time. */
const MAX_MARKS = 1_000;
const MARK = /[*_~[\]<&$`\\@|]/g;
/** Deeply nested quotes and lists that begin on one line. */
const DEEP = /^[ \t]*(?:(?:>|[-*+][ \t]|\d{1,9}[.)][ \t])[ \t]*){20}/m;
const FENCE = /^ {0,3}(?:`{3}|~{3}|\$\$\s*$)/m;
/** Lines that continue the previous line, or are table rows. */
const CONTINUES = /^(?:\s|\||$)/;

/** A part of an answer that is rendered separately; `isPlain` if parsing it as Markdown would block the page. */
export interface Piece {
  readonly text: string;
  readonly isPlain: boolean;
}

/** Splits a long list or block of lines where no line depends on the one before. */
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

/** What a parser takes for the beginning of code: behind backticks there are no more of them on the line. */
const CODE = /^ {0,3}(?:`{3,}[^`\n]*|~{3,}.*)(?:\n|$)/;

function isTooMuch(text: string): boolean {
  return !CODE.test(text) && (text.length > MAX_LENGTH || DEEP.test(text) || (text.match(MARK)?.length ?? 0) > MAX_MARKS);
}

/** Splits an answer into pieces that each render quickly. */
export function markdownPieces(text: string): readonly Piece[] {
  // A parser ends a line at a carriage return alone, too: code that seems to go on would be over for it.
  return markdownBlocks(text.replaceAll(/\r\n?/g, "\n"))
    .flatMap(cut)
    .map((piece) => ({ text: piece, isPlain: isTooMuch(piece) }));
}
