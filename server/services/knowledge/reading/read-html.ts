import { Parser } from "htmlparser2";
import { type Section, Sections, UnreadableDocument } from "./document-text.ts";

/** What no reader of the page sees, or what is the same on every page. */
const LEFT_OUT = new Set([
  "script",
  "style",
  "noscript",
  "template",
  "svg",
  "math",
  "iframe",
  "object",
  "nav",
  "head",
  "select",
  "textarea",
]);
const IN_LINE = new Set(
  "a abbr b bdi bdo cite code data dfn em font i kbd label mark q s samp small span strike strong sub sup time tt u var wbr".split(" "),
);
const HEADINGS = new Set(["h1", "h2", "h3", "h4", "h5", "h6"]);
const DEEPEST = 512;

const isHidden = ({ hidden, style, ...attributes }: Record<string, string>) =>
  hidden !== undefined ||
  attributes["aria-hidden"] === "true" ||
  (style !== undefined && /display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d]*[1-9])/i.test(style));

/**
 * Reads a page piece by piece: the words a reader of it sees, under its headings. Text hidden from people is for whoever reads on their
 * behalf.
 */
export function htmlReader(): { push(piece: string): void; end(): readonly Section[] } {
  const sections = new Sections();
  const open: { readonly name: string; readonly dark: boolean }[] = [];
  let words = "";
  const dark = () => open.at(-1)?.dark === true;
  const flush = (level: number | null = null) => {
    const text = words.replaceAll(/[ \t\n\f]+/g, " ").trim();
    words = "";
    if (level === null) sections.block(text);
    else if (text !== "") sections.heading(level, text);
  };
  const parser = new Parser({
    onopentag(name, attributes) {
      if (open.length >= DEEPEST) throw new UnreadableDocument(`Its elements stand in each other more than ${DEEPEST} deep.`);
      if (name === "td" || name === "th") words += " | ";
      else if (!IN_LINE.has(name)) flush();
      open.push({ name, dark: dark() || LEFT_OUT.has(name) || isHidden(attributes) });
    },
    ontext(text) {
      if (!dark()) words += text;
    },
    onclosetag(name) {
      open.pop();
      if (HEADINGS.has(name)) flush(Number(name[1]));
      else if (!IN_LINE.has(name) && name !== "td" && name !== "th") flush();
    },
  });
  return {
    push: (piece) => parser.write(piece),
    end() {
      parser.end();
      flush();
      return sections.close();
    },
  };
}

export function readHtml(html: string): readonly Section[] {
  const reader = htmlReader();
  reader.push(html);
  return reader.end();
}
