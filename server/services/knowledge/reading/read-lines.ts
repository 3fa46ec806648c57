import { type Section, Sections } from "./document-text.ts";

const HEADING = /^ {0,3}(#{1,6})[ \t]+(\S.*)$/;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;

/** Reads paragraphs separated by empty lines. Markdown also yields headings and keeps fenced code in one block. */
export function readLines(text: string, markdown: boolean): readonly Section[] {
  const sections = new Sections();
  let lines: string[] = [];
  let fence: string | null = null;
  const flush = () => {
    sections.block(lines.join("\n"));
    lines = [];
  };
  for (const line of text.split("\n")) {
    const mark: string | null = markdown ? (FENCE.exec(line)?.[1] ?? null) : null;
    const heading = markdown && fence === null ? HEADING.exec(line) : null;
    if (fence !== null) {
      lines.push(line);
      if (mark !== null && mark.startsWith(fence) && line.trim() === mark) fence = null;
    } else if (mark !== null) {
      fence = mark;
      lines.push(line);
    } else if (heading !== null) {
      flush();
      sections.heading((heading[1] as string).length, (heading[2] as string).replace(/[ \t]#+[ \t]*$/, "").trim());
    } else if (line.trim() === "") flush();
    else lines.push(line);
  }
  flush();
  return sections.close();
}
