import { PDFiumLibrary } from "@hyzyla/pdfium";
import { type Section, Sections, UnreadableDocument } from "./document-text.ts";
import { seenText } from "./seen-text.ts";

const MAX_PAGES = 5_000;
const MAX_CHARACTERS = 20_000_000;

/** Reads the visible text of each page under its number. Scripts and forms cannot run: the PDFium build does not contain them. */
export async function readPdf(content: Uint8Array): Promise<readonly Section[]> {
  const library = await PDFiumLibrary.init();
  const document = await library.loadDocument(content).catch((error: Error) => {
    throw new UnreadableDocument(/password/i.test(error.message) ? "It is protected by a password." : "It is no PDF document, or damaged.");
  });
  const pages = document.getPageCount();
  if (pages > MAX_PAGES) throw new UnreadableDocument(`It has ${pages} pages; at most ${MAX_PAGES} are read.`);
  const sections = new Sections();
  let characters = 0;
  for (const page of document.pages()) {
    const text = seenText(page).replaceAll(/\r\n?/g, "\n");
    characters += text.length;
    if (characters > MAX_CHARACTERS) throw new UnreadableDocument(`It has more than ${MAX_CHARACTERS} characters.`);
    sections.heading(1, `Page ${page.number + 1}`);
    for (const block of text.split(/\n[ \t]*\n/)) sections.block(block.trim());
  }
  const all = sections.close();
  if (all.length === 0) throw new UnreadableDocument("There is no text in it: its pages are pictures, which are not read.");
  return all;
}
