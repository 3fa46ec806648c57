import { readXml } from "./xml-part.ts";
import type { ZipParts } from "./zip-parts.ts";

const TITLES = new Set(["title", "ctrTitle"]);

export async function slideTexts(parts: ZipParts, slide: string) {
  const paragraphs: string[] = [];
  let [title, words, takes, shown, inTitle] = ["", "", false, true, false];
  await readXml(parts, slide, {
    open(name, attributes) {
      if (name === "sld") shown = attributes.show !== "0" && attributes.show !== "false";
      else if (name === "sp") inTitle = false;
      else if (name === "ph") inTitle = TITLES.has(attributes.type ?? "");
      else if (name === "t") takes = true;
      else if (name === "br" || name === "tab") words += " ";
    },
    text(text) {
      if (takes) words += text;
    },
    close(name) {
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
