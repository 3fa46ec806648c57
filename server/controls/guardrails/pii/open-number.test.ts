import { expect, test } from "bun:test";
import fc from "fast-check";
import { openNumberFrom, openQuantityFrom } from "./open-number.ts";

/** The end of the text, which closes with a space so that no word is open, as an expression reads it. */
const open = (text: string, pattern: RegExp) => pattern.exec(text.slice(-80))?.index ?? Math.min(80, text.length);

test("a number at the end of a text is open from its first sign after the last letter", () => {
  const part = fc.constantFrom(
    "1",
    "42",
    "+",
    "(",
    ")",
    " ",
    "-",
    ".",
    "\n",
    "a",
    "kg",
    "\u00e9",
    "\u00a0",
    "\ud83d\ude00",
    "\u6f22",
    "word ",
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
      const text = `${parts.join("")} `;
      const base = Math.max(0, text.length - 80);
      expect(openNumberFrom(text)).toBe(base + open(text, /[+(\d][^\p{L}\n]*$/u));
      expect(openQuantityFrom(text)).toBe(base + open(text, /[+(\d][^\p{L}\n]*[^]{0,6}$/u));
    }),
    { numRuns: 2_000 },
  );
});
