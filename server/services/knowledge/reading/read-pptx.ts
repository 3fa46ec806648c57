import { type Section, Sections, UnreadableDocument } from "./document-text.ts";
import { slideTexts } from "./slide-texts.ts";
import { readXml, relationsOf } from "./xml-part.ts";
import { ZipParts } from "./zip-parts.ts";

const MAIN = "ppt/presentation.xml";
const MAX_SLIDES = 5_000;

/** Reads each slide under its title, followed by the speaker notes. Hidden slides are skipped. */
export async function readPptx(content: Uint8Array): Promise<readonly Section[]> {
  const parts = await ZipParts.open(content);
  const sections = new Sections();
  const slides = await slidesOf(parts);
  if (slides.length > MAX_SLIDES) throw new UnreadableDocument(`It has ${slides.length} slides; at most ${MAX_SLIDES} are read.`);
  for (const [index, slide] of slides.entries()) {
    const { title, paragraphs, shown } = await slideTexts(parts, slide);
    if (!shown) continue;
    sections.heading(1, title === "" ? `Slide ${index + 1}` : `Slide ${index + 1}: ${title}`);
    for (const text of paragraphs) sections.block(text);
    const notes = [...(await relationsOf(parts, slide)).values()].find(({ type }) => type === "notesSlide");
    if (notes === undefined) continue;
    const noteTexts = (await slideTexts(parts, notes.target)).paragraphs.filter((text) => !/^\d+$/.test(text));
    if (noteTexts.length > 0) sections.block(`Notes: ${noteTexts.join("\n")}`);
  }
  return sections.close();
}

/** Part names of the slides, in presentation order. */
async function slidesOf(parts: ZipParts): Promise<string[]> {
  const relations = await relationsOf(parts, MAIN);
  const slides: string[] = [];
  await readXml(parts, MAIN, {
    open(name, attributes) {
      if (name !== "sldId") return;
      const found = relations.get(attributes["r:id"] ?? "");
      if (found !== undefined) slides.push(found.target);
    },
  });
  return slides;
}
