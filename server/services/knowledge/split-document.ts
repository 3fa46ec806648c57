import { estimateTokens } from "../../wire/usage.ts";
import type { Section } from "./reading/document-text.ts";

/** What is found and quoted as one. */
export interface SplitPassage {
  /** The headings it stands under. */
  readonly heading: string;
  readonly text: string;
  readonly tokens: number;
}

/** About 400 tokens: recursive splits of 200 to 512 find best. */
const LONGEST = 1_600;
/** Of the passage before, so that what is said across the border is found. */
const OVERLAP = 200;

/** Splits at headings, then between paragraphs, then between sentences, then between words. */
export function splitDocument(sections: readonly Section[]): SplitPassage[] {
  return sections.flatMap(({ headings, blocks }) => {
    const heading = headings.join(" > ");
    return joined(blocks.flatMap((block) => pieces(block))).map((text) => ({
      heading,
      text,
      tokens: estimateTokens(Buffer.byteLength(text)),
    }));
  });
}

/** As many pieces together as a passage may hold; each further passage begins with the end of the one before. */
function joined(parts: readonly string[]): string[] {
  const passages: string[] = [];
  let current = "";
  for (const part of parts) {
    if (current !== "" && current.length + 2 + part.length > LONGEST) {
      passages.push(current);
      const before = lastWords(current);
      current = before === "" || before.length + 2 + part.length > LONGEST ? "" : before;
    }
    current = current === "" ? part : `${current}\n\n${part}`;
  }
  if (current !== "") passages.push(current);
  return passages;
}

function lastWords(text: string): string {
  const end = text.slice(-OVERLAP);
  const start = /[.!?\n]\s+\S/.exec(end);
  return start === null ? "" : end.slice(start.index + start[0].length - 1);
}

function pieces(block: string): string[] {
  const parts: string[] = [];
  let rest = block.trim();
  while (rest.length > LONGEST) {
    const at = borderIn(rest.slice(0, LONGEST));
    parts.push(rest.slice(0, at).trim());
    rest = rest.slice(at).trimStart();
  }
  if (rest !== "") parts.push(rest);
  return parts;
}

function borderIn(text: string): number {
  const least = text.length / 2;
  for (const border of [/\n(?=[^\n]*$)/, /[.!?。！？][\s"')\]]*(?=[^.!?。！？]*$)/, /\s(?=\S*$)/]) {
    const found = border.exec(text.slice(least));
    if (found !== null) return least + found.index + found[0].length;
  }
  // Never between the halves of one character.
  return /[\uD800-\uDBFF]$/.test(text) ? text.length - 1 : text.length;
}
