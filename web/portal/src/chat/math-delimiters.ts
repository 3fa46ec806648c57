/** Code is left unchanged: a dollar sign in it is literal. */
const CODE = /(`+)[\s\S]{0,2000}?\1(?!`)/g;
const FENCE = /^ {0,3}(?:`{3}|~{3})/;
const BLOCK = /\\\[([\s\S]{1,2000}?)\\\]/g;
const INLINE = /\\\((.{1,1000}?)\\\)/g;
/** Longer blocks are not searched for formulas. */
const MAX_LENGTH = 20_000;
/** Single dollar signs directly around their content and not followed by a digit: "$5 and $6" are prices. */
const DOLLARS = /(?<![\\$\w])\$(?![\s$\d]+(?:[\s,.;]|$))(?=\S)([^$\n]*?\S)\$(?![\d$\w])/g;

function outsideOfCode(text: string, change: (part: string) => string): string {
  let result = "";
  let from = 0;
  for (const { 0: code, index } of text.matchAll(CODE)) {
    result += change(text.slice(from, index)) + code;
    from = index + code.length;
  }
  return result + change(text.slice(from));
}

/** Converts the various ways models delimit formulas to `$$`, the only one the Markdown parser knows, because it never means a price. */
export function withMathDelimiters(text: string): string {
  if (text.length > MAX_LENGTH || FENCE.test(text) || !/\\[[(]|\$/.test(text)) return text;
  return outsideOfCode(text, (part) =>
    part
      .replaceAll(BLOCK, (_, formula: string) => `\n$$$$\n${formula.trim()}\n$$$$\n`)
      .replaceAll(INLINE, (_, formula: string) => `$$$$${formula}$$$$`)
      .replaceAll(DOLLARS, (_, formula: string) => `$$$$${formula}$$$$`),
  );
}
