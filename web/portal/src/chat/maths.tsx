import temml from "temml";
import { createElement, Fragment, type ReactNode } from "react";

/** A node of the library's tree: an element, text, or a group without an element. */
interface MathTree {
  readonly type?: unknown;
  readonly text?: unknown;
  readonly attributes?: Readonly<Record<string, unknown>>;
  readonly style?: Readonly<Record<string, unknown>>;
  readonly children?: readonly MathTree[];
}

/** MathML elements that only draw: no links, actions or foreign elements. */
const ELEMENTS = new Set(
  (
    "math mrow mi mn mo mtext mspace ms mfrac msqrt mroot msub msup msubsup munder mover munderover mmultiscripts mprescripts " +
    "mtable mtr mtd mpadded mphantom menclose mstyle merror semantics none"
  ).split(" "),
);
const ATTRIBUTES = new Set(
  (
    "display mathvariant displaystyle scriptlevel stretchy fence separator form lspace rspace minsize maxsize symmetric largeop " +
    "movablelimits accent accentunder linethickness width height depth voffset columnalign rowspacing columnspacing columnlines " +
    "rowlines columnspan notation mathcolor mathbackground side"
  ).split(" "),
);
const STYLES =
  /^(?:color|background(?:Color)?|padding\w*|margin\w*|border\w*|width|height|textAlign|verticalAlign|fontSize|fontStyle|fontWeight)$/;
/** Deeper nesting than any real formula; browsers' layout would suffer. */
const MAX_DEPTH = 120;
const MAX_LENGTH = 5_000;

function drawn(tree: MathTree, key: number, depth: number): ReactNode {
  if (depth > MAX_DEPTH) return null;
  if (typeof tree.text === "string") return tree.text;
  const children = (tree.children ?? []).map((child, at) => drawn(child, at, depth + 1));
  const name = String(tree.type ?? "");
  if (!ELEMENTS.has(name)) return createElement(Fragment, { key }, ...children);
  const attributes = Object.entries(tree.attributes ?? {}).filter(([attribute]) => ATTRIBUTES.has(attribute.toLowerCase()));
  const style = Object.entries(tree.style ?? {}).filter(([property, value]) => STYLES.test(property) && !/url|\(/i.test(String(value)));
  return createElement(name, { key, ...Object.fromEntries(attributes), style: Object.fromEntries(style) }, ...children);
}

/** A formula as MathML, which browsers render natively. Invalid formulas are shown as written. */
export function Maths({ text, display }: { readonly text: string; readonly display: boolean }): ReactNode {
  try {
    if (text.length > MAX_LENGTH) throw new RangeError("too long for a formula");
    // The library exposes its tree only under this name.
    // oxlint-disable-next-line no-underscore-dangle
    const tree = temml.__renderToMathMLTree(text, {
      displayMode: display,
      throwOnError: true,
      trust: false,
      maxExpand: 500,
      maxSize: [50, 50],
    });
    const formula = drawn(tree as MathTree, 0, 0);
    return display ? (
      <div tabIndex={0} role="group" aria-label={text} className="my-3 overflow-x-auto py-1 text-center text-lg">
        {formula}
      </div>
    ) : (
      formula
    );
  } catch {
    return <code className="font-mono text-sm">{text}</code>;
  }
}
