import { type Section, Sections } from "./document-text.ts";
import { documentStyles, isOn } from "./document-styles.ts";
import { readXml } from "./xml-part.ts";
import { ZipParts } from "./zip-parts.ts";

const MAIN = "word/document.xml";

/** Reads paragraphs under their headings, and each table row as one line. Hidden and deleted text is left out. */
export async function readDocx(content: Uint8Array): Promise<readonly Section[]> {
  const parts = await ZipParts.open(content);
  const { levels, hides } = await documentStyles(parts);
  const sections = new Sections();
  let [words, cells, level, inTable] = ["", [] as string[], null as number | null, 0];
  // A run's own `vanish` property decides; otherwise the paragraph and run styles do, where hiding in both cancels out.
  let [hidden, byParagraph, byRun] = [null as boolean | null, false, false];
  const endParagraph = () => {
    const text = words.trim();
    words = "";
    if (inTable > 0) {
      if (text !== "") cells.push(text);
    } else if (level !== null && text !== "") sections.heading(level, text);
    else sections.block(text);
    level = null;
  };
  let takes = false;
  await readXml(parts, MAIN, {
    open(name, attributes) {
      if (name === "tbl") inTable++;
      else if (name === "p") byParagraph = false;
      else if (name === "r") [hidden, byRun] = [null, false];
      else if (name === "rStyle") byRun = hides(attributes["w:val"] ?? "");
      else if (name === "vanish" || name === "webHidden") hidden = isOn(attributes["w:val"]);
      else if (name === "t") takes = true;
      else if (name === "tab") words += " ";
      else if (name === "br" || name === "cr") words += "\n";
      else if (name === "pStyle") {
        level = levels.get(attributes["w:val"] ?? "") ?? level;
        byParagraph = hides(attributes["w:val"] ?? "");
      } else if (name === "outlineLvl") level = outline(attributes["w:val"]) ?? level;
    },
    text(text) {
      if (takes && !(hidden ?? byParagraph !== byRun)) words += text;
    },
    close(name) {
      if (name === "t") takes = false;
      else if (name === "r") [hidden, byRun] = [null, false];
      else if (name === "p") endParagraph();
      else if (name === "tr") {
        if (inTable === 1) {
          sections.block(cells.join(" | "));
          cells = [];
        }
      } else if (name === "tbl") inTable--;
    },
  });
  return sections.close();
}

function outline(value: string | undefined): number | null {
  const level = Number(value);
  return value !== undefined && level >= 0 && level < 6 ? level + 1 : null;
}
