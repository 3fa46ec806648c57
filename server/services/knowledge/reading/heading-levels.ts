import { readXml } from "./xml-part.ts";
import type { ZipParts } from "./zip-parts.ts";

const HEADING = /^heading (\d)$/i;

/** Styles have ids in the language of whoever wrote the document, and names that do not. */
export async function headingLevels(parts: ZipParts): Promise<Map<string, number>> {
  const levels = new Map<string, number>();
  let id = "";
  await readXml(parts, "word/styles.xml", {
    open(name, attributes) {
      if (name === "style") id = attributes["w:styleId"] ?? "";
      if (name !== "name") return;
      const said = attributes["w:val"] ?? "";
      const level = said.toLowerCase() === "title" ? 1 : Number(HEADING.exec(said)?.[1] ?? 0);
      if (level >= 1) levels.set(id, Math.min(level, 6));
    },
  });
  return levels;
}
