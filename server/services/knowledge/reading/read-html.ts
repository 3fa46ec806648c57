import { Parser } from "htmlparser2";
import { type Section, Sections, UnreadableDocument } from "./document-text.ts";

/** Elements that readers do not see, and navigation that is repeated on every page. */
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
const MAX_DEPTH = 512;

const ZERO = String.raw`(?:0+(?:\.0*)?|\.0+)(?:%|[a-z]+)?(?![\d.%a-z])`;
const FAR = String.raw`-\d{3,}`;
/**
 * CSS declarations that make text invisible. States that a page leaves a moment later, as in fade-in or slide-in animations, are not
 * matched.
 */
const UNSEEN = new RegExp(
  [
    String.raw`display\s*:\s*none`,
    String.raw`visibility\s*:\s*(?:hidden|collapse)`,
    String.raw`font-size\s*:\s*${ZERO}`,
    String.raw`text-indent\s*:\s*${FAR}`,
    String.raw`clip-path\s*:\s*(?:inset\(\s*(?:[5-9]\d|100)%|circle\(\s*${ZERO})`,
  ].join("|"),
  "i",
);
const PLACED = /position\s*:\s*(?:absolute|fixed)/i;
const FAR_AWAY = new RegExp(String.raw`(?<![\w-])(?:(?:left|right|top|bottom)\s*:\s*${FAR}|clip\s*:\s*rect\(\s*[01](?:px)?[\s,])`, "i");
const TRANSPARENT = /(?<![\w-])color\s*:\s*transparent/i;
/** With `background-clip: text`, transparent letters are visible because the background shows through. */
const CUT_OUT = /background-clip\s*:\s*text/i;

function isUnseen(style: string): boolean {
  const plain = style.replaceAll(/\/\*.*?(?:\*\/|$)/gs, "");
  return UNSEEN.test(plain) || (PLACED.test(plain) && FAR_AWAY.test(plain)) || (TRANSPARENT.test(plain) && !CUT_OUT.test(plain));
}

const isHidden = ({ hidden, style, ...attributes }: Record<string, string>) =>
  hidden !== undefined || attributes["aria-hidden"] === "true" || (style !== undefined && isUnseen(style));

/**
 * Parses a page incrementally into its visible text under its headings. Hidden text is skipped, because it may carry instructions for
 * models that people cannot see.
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
      if (open.length >= MAX_DEPTH) throw new UnreadableDocument(`Its elements stand in each other more than ${MAX_DEPTH} deep.`);
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
