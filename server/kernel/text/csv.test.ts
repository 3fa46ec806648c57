import { expect, test } from "bun:test";
import fc from "fast-check";
import { csvCell } from "./csv.ts";

test.each([
  ["plain", "plain"],
  [null, ""],
  [undefined, ""],
  ["", '""'],
  [true, "true"],
  [-1, "-1"],
  [["a", 1], '"[""a"",1]"'],
  ["a,b", '"a,b"'],
  ['say "x"', '"say ""x"""'],
  ["=1+1", '"\'=1+1"'],
  ["+49 30", '"\'+49 30"'],
  ["-1", '"\'-1"'],
  ["@SUM(A1)", '"\'@SUM(A1)"'],
  ["\t=1", '"\'\t=1"'],
  [" =1", '"\' =1"'],
])("%p becomes the CSV cell %p", (value, cell) => expect(csvCell(value)).toBe(cell));

test.each(["\uff1d", "\uff0b", "\uff0d", "\uff20", "\ufe66", "\u207a", "\u2212", "\u200b="])(
  "a text that begins with %p is escaped, because spreadsheets read it as a formula",
  (sign) => expect(csvCell(`${sign}1`)).toBe(`"'${sign}1"`),
);

/** What a spreadsheet reads from one cell of RFC 4180. */
function readCell(cell: string): string {
  return cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell;
}

test("no text becomes a formula in a CSV cell, breaks out of its cell or is lost", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("=", "+", "-", "@", "\t", "\r", "\n", '"', ",", "'", " ", "a", "1") }), (text) => {
      const cell = csvCell(text);
      const read = readCell(cell);
      expect(/^\s*[=+\-@\t\r]/.test(read)).toBe(false);
      expect([text, `'${text}`]).toContain(read);
      if (!cell.startsWith('"')) expect(cell).not.toMatch(/[",\r\n]/);
      else expect(cell.slice(1, -1).replaceAll('""', "")).not.toContain('"');
    }),
  );
});
