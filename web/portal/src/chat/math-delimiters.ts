/** Code is as it is: a dollar in it is one. */
const CODE = /(`+)[\s\S]{0,2000}?\1(?!`)/g;
const FENCE = /^ {0,3}(?:`{3}|~{3})/;
const BLOCK = /\\\[([\s\S]{1,2000}?)\\\]/g;
const INLINE = /\\\((.{1,1000}?)\\\)/g;
/** Of a longer block nothing is looked for: who writes one has no formulas in mind. */
const LONGEST = 20_000;
/** One dollar each side, hugging what is between them, and no digit behind: "$5 and $6" are prices. */
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

/** Models write formulas in several ways; markdown here knows one, two dollars, which nobody means by a price. */
export function withMathDelimiters(text: string): string {
  if (text.length > LONGEST || FENCE.test(text) || !/\\[[(]|\$/.test(text)) return text;
  return outsideOfCode(text, (part) =>
    part
      .replaceAll(BLOCK, (_, formula: string) => `\n$$$$\n${formula.trim()}\n$$$$\n`)
      .replaceAll(INLINE, (_, formula: string) => `$$$$${formula}$$$$`)
      .replaceAll(DOLLARS, (_, formula: string) => `$$$$${formula}$$$$`),
  );
}
