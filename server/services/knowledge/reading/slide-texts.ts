import { readXml } from "./xml-part.ts";
import type { ZipParts } from "./zip-parts.ts";

const TITLES = new Set(["title", "ctrTitle"]);
const SHAPES = new Set(["sp", "grpSp", "graphicFrame", "cxnSp", "pic"]);

export async function slideTexts(parts: ZipParts, slide: string) {
  const paragraphs: string[] = [];
  let [title, words, takes, shown, inTitle] = ["", "", false, true, false];
  /** Whether each enclosing shape is hidden, outermost first. */
  const shapes: boolean[] = [];
  await readXml(parts, slide, {
    open(name, attributes) {
      if (SHAPES.has(name)) shapes.push(false);
      if (name === "cNvPr" && shapes.length > 0) shapes[shapes.length - 1] = attributes.hidden === "1" || attributes.hidden === "true";
      if (name === "sld") shown = attributes.show !== "0" && attributes.show !== "false";
      else if (name === "sp") inTitle = false;
      else if (name === "ph") inTitle = TITLES.has(attributes.type ?? "");
      else if (name === "t") takes = true;
      else if (name === "br" || name === "tab") words += " ";
    },
    text(text) {
      if (takes && !shapes.includes(true)) words += text;
    },
    close(name) {
      if (SHAPES.has(name)) shapes.pop();
      if (name === "t") takes = false;
      if (name === "sp") inTitle = false;
      if (name !== "p") return;
      const text = words.trim();
      words = "";
      if (text === "") return;
      if (inTitle) title = title === "" ? text : `${title} ${text}`;
      else paragraphs.push(text);
    },
  });
  return { title, paragraphs, shown };
}
