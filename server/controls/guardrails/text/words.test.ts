import { expect, test } from "bun:test";
import fc from "fast-check";
import { foldWord, readingsOf, WordCursor, WordHashes } from "./words.ts";

const UNSPACED =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}";
/** A word, in one expression. */
const WORD = new RegExp(`[[\\p{L}\\p{M}\\p{N}_\\u24B6-\\u24E9\\u{1F130}-\\u{1F149}]--[${UNSPACED}]]+|[${UNSPACED}]\\p{M}*|[^\\s]`, "gv");

const PIECES = [
  "word",
  "Wörter",
  "STRASSE",
  "größer",
  "слово",
  "сap",
  "Ёлка",
  "λόγος",
  "ไทย",
  "한국어",
  "你好",
  "々",
  "カ",
  "カ\u3099",
  "が",
  "e\u0301",
  "\u0301",
  "a_b",
  "42",
  "٤٢",
  " ",
  "\n",
  "\u00a0",
  "\u2028",
  "\u3000",
  "\u2014",
  "\u203f",
  "、",
  "。",
  "「",
  "」",
  "，",
  ".",
  "-",
  "'",
  "\u201e",
  "ſ",
  "K",
  "ﬁ",
  "\u{1f600}",
  "\ud83d",
  "\u{20000}",
  "\u24d0",
  "\u{1F130}",
  "x",
  "Z",
];
const text = fc
  .array(fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...PIECES) }, fc.string({ unit: "binary", maxLength: 3 })), { maxLength: 16 })
  .map((pieces) => pieces.join(""));

function words(whole: string): string[] {
  const cursor = new WordCursor(whole);
  const found: string[] = [];
  for (let there = cursor.next(0); there; there = cursor.next(cursor.end)) found.push(whole.slice(cursor.start, cursor.end));
  return found;
}

test("the word cursor finds the same words as the regular expression", () => {
  fc.assert(
    fc.property(text, (whole) => expect(words(whole)).toEqual([...whole.matchAll(WORD)].map(([word]) => word))),
    { numRuns: 3_000 },
  );
});

test("the search for given words never skips one of them", () => {
  fc.assert(
    fc.property(text, fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 4 }), (whole, asked) => {
      const wanted = new Set(asked.map(foldWord));
      const cursor = new WordCursor(whole);
      const found: string[] = [];
      const hashes = new WordHashes(wanted);
      for (let there = cursor.nextOf(hashes, 0, whole.length); there; there = cursor.nextOf(hashes, cursor.end, whole.length))
        found.push(whole.slice(cursor.start, cursor.end));
      const isWanted = (word: string) => readingsOf(word).some((reading) => wanted.has(reading));
      expect(found.filter(isWanted)).toEqual(words(whole).filter(isWanted));
    }),
    { numRuns: 3_000 },
  );
});
