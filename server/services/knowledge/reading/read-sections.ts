import { parse } from "csv-parse/sync";
import { type Section, Sections, UnreadableDocument } from "./document-text.ts";
import { readHtml } from "./read-html.ts";
import { readLines } from "./read-lines.ts";

/** Reads the sections of a document. Throws `UnreadableDocument`. */
export async function readSections(kind: string, content: Uint8Array): Promise<readonly Section[]> {
  const sections = await (READERS[kind] ?? (() => readLines(textOf(content), false)))(content);
  if (sections.length === 0) throw new UnreadableDocument("There is no text in it.");
  return sections;
}

/** Each parsing library is loaded only for documents of its kind. */
const READERS: Readonly<Record<string, (content: Uint8Array) => readonly Section[] | Promise<readonly Section[]>>> = {
  markdown: (content) => readLines(textOf(content), true),
  csv: (content) => readCsv(textOf(content)),
  html: (content) => readHtml(textOf(content)),
  pdf: async (content) => (await import("./read-pdf.ts")).readPdf(content),
  docx: async (content) => (await import("./read-docx.ts")).readDocx(content),
  pptx: async (content) => (await import("./read-pptx.ts")).readPptx(content),
  xlsx: async (content) => (await import("./read-xlsx.ts")).readXlsx(content),
  email: async (content) => (await import("./read-email.ts")).readEmail(content),
};

/** Decodes UTF-8, or UTF-16 with a byte order mark. */
function textOf(content: Uint8Array): string {
  const encoding =
    content[0] === 0xff && content[1] === 0xfe ? "utf-16le" : content[0] === 0xfe && content[1] === 0xff ? "utf-16be" : "utf-8";
  let text: string;
  try {
    text = new TextDecoder(encoding, { fatal: true }).decode(content);
  } catch {
    throw new UnreadableDocument("It is not text in UTF-8 or UTF-16.");
  }
  return text.replaceAll("\0", "").replaceAll(/\r\n?/g, "\n");
}

const DELIMITERS = [",", ";", "\t"] as const;

/**
 * The most frequent delimiter in the header row. Only that row counts, because values may contain the others, e.g. decimal commas in
 * prices.
 */
function delimiterOf(text: string): string {
  const counts = new Map<string, number>(DELIMITERS.map((delimiter) => [delimiter, 0]));
  let quoted = false;
  for (let at = text.search(/\S/); at >= 0 && at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (character === "\n") break;
    else if (counts.has(character)) counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  return DELIMITERS.reduce((most, one) => ((counts.get(one) ?? 0) > (counts.get(most) ?? 0) ? one : most));
}

/** Labels each cell with its column name, because a passage with bare values would mean nothing. */
function readCsv(text: string): readonly Section[] {
  let rows: string[][];
  try {
    rows = parse(text, {
      bom: true,
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      max_record_size: 1_000_000,
      delimiter: delimiterOf(text),
    });
  } catch (error) {
    throw new UnreadableDocument(`It is no table of values: ${(error as Error).message.slice(0, 200)}`);
  }
  const [names = [], ...values] = rows;
  const sections = new Sections();
  if (values.length === 0) sections.block(names.join(", "));
  for (const row of values)
    sections.block(
      row.flatMap((cell, i) => (cell.trim() === "" ? [] : [`${names[i]?.trim() || `column ${i + 1}`}: ${cell.trim()}`])).join("; "),
    );
  return sections.close();
}
