import { readXml } from "./xml-part.ts";
import type { ZipParts } from "./zip-parts.ts";

const HEADING = /^heading (\d)$/i;
const MAX_DEPTH = 32;

interface DocumentStyles {
  /** Heading levels by style ID. */
  readonly levels: ReadonlyMap<string, number>;
  /** Whether a style hides its text, itself or by inheritance. */
  hides(id: string): boolean;
}

/** Reads the style definitions. Style IDs depend on the author's language, but the names of built-in styles do not. */
export async function documentStyles(parts: ZipParts): Promise<DocumentStyles> {
  const levels = new Map<string, number>();
  const hidden = new Map<string, boolean>();
  const basedOn = new Map<string, string>();
  let id = "";
  await readXml(parts, "word/styles.xml", {
    open(name, attributes) {
      const styleName = attributes["w:val"] ?? "";
      if (name === "style") id = attributes["w:styleId"] ?? "";
      else if (name === "vanish") hidden.set(id, isOn(attributes["w:val"]));
      else if (name === "basedOn") basedOn.set(id, styleName);
      if (name !== "name") return;
      const level = styleName.toLowerCase() === "title" ? 1 : Number(HEADING.exec(styleName)?.[1] ?? 0);
      if (level >= 1) levels.set(id, Math.min(level, 6));
    },
  });
  const hides = (style: string, deep = MAX_DEPTH): boolean => {
    const above = basedOn.get(style);
    return hidden.get(style) ?? (above !== undefined && deep > 0 && hides(above, deep - 1));
  };
  return { levels, hides };
}

/** An OOXML toggle property is on if it is present and not explicitly off. */
export const isOn = (value: string | undefined) => value === undefined || !["0", "false", "off"].includes(value);
