import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { bannedWords } from "./banned-words.ts";
import { foldText } from "./folded-text.ts";
import { cpuMs } from "../../../../tests/support/processes/cpu-time.ts";

function found(entries: readonly string[], text: string): string[] {
  const folded = foldText(text);
  return bannedWords(entries)
    .find(folded.text, 0, folded.text.length, true)
    .map(({ start, end }) => text.slice(folded.toOriginal(start), folded.endToOriginal(end)));
}

describe("a banned word is found", () => {
  const cases: readonly (readonly [entry: string, text: string, found: readonly string[]])[] = [
    ["titan", "Project TITAN, titan.", ["TITAN", "titan"]],
    ["titan", "titanium and mytitan and titan_2", []],
    ["stra\u00dfe", "STRASSE Stra\u00dfe strasse", ["STRASSE", "Stra\u00dfe", "strasse"]],
    ["caf\u00e9", "cafe\u0301 CAF\u00c9 cafe", ["cafe\u0301", "CAF\u00c9"]],
    [
      "bad",
      "\uff22\uff21\uff24 b\u200ba\u200bd \u{1D41B}\u{1D41A}\u{1D41D}",
      ["\uff22\uff21\uff24", "b\u200ba\u200bd", "\u{1D41B}\u{1D41A}\u{1D41D}"],
    ],
    ["bad", "\u24d1\u24d0d b\u{1F130}\u24b9 \u24d0bad", ["\u24d1\u24d0d", "b\u{1F130}\u24b9"]],
    ["bad", "b\u3164a\uffa0d b\u180ba\u206ad", ["b\u3164a\uffa0d", "b\u180ba\u206ad"]],
    ["bad", "b\u{E0100}a\u{1D173}\u{E0041}d", ["b\u{E0100}a\u{1D173}\u{E0041}d"]],
    // Cyrillic a, i and capital T, Greek o.
    ["titan", "tit\u0430n T\u0456TAN \u0422itan of \u0442\u0438\u0442\u0430\u043d", ["tit\u0430n", "T\u0456TAN", "\u0422itan"]],
    ["project titan", "pr\u03bfject tit\u0430n", ["pr\u03bfject tit\u0430n"]],
    // Latin o and c in a Russian word; a word in a single script is read in that script alone.
    [
      "\u043c\u043e\u0441\u043a\u0432\u0430",
      "\u041co\u0441\u043a\u0432\u0430 \u043c\u043ec\u043a\u0432\u0430 mockba",
      ["\u041co\u0441\u043a\u0432\u0430", "\u043c\u043ec\u043a\u0432\u0430"],
    ],
    ["cop", "\u0441\u043e\u0440 c\u043ep", ["c\u043ep"]],
    ["new york", "New\n  York, NewYork, new-york", ["New\n  York"]],
    ["c++", "I like C++.", ["C++"]],
    ["\u7981\u6b62", "\u8fd9\u662f\u7981\u6b62\u7684", ["\u7981\u6b62"]],
    [
      "\u043f\u0440\u0438\u0432\u0435\u0442",
      "\u041f\u0420\u0418\u0412\u0415\u0422, \u043f\u0440\u0438\u0432\u0435\u0442\u0438\u043a",
      ["\u041f\u0420\u0418\u0412\u0415\u0422"],
    ],
    ["\u03bf\u03b4\u03cc\u03c2", "\u039f\u0394\u038c\u03a3", ["\u039f\u0394\u038c\u03a3"]],
    ["\u{1f4a9}", "so \u{1f4a9}!", ["\u{1f4a9}"]],
    ["a b c", "a b a b c", ["a b c"]],
    ["", "anything", []],
    ["   ", "a   b", []],
    ["x".repeat(95), "x".repeat(95), []],
    ["x".repeat(94), `${"x".repeat(94)} ${"x".repeat(95)}`, ["x".repeat(94)]],
  ];
  for (const [entry, text, expected] of cases)
    test(`${JSON.stringify(entry.slice(0, 20))} in ${JSON.stringify(text.slice(0, 40))}`, () =>
      expect(found([entry], text)).toEqual([...expected]));

  test("as the longest entry at its position", () =>
    expect(found(["blue", "blue heron", "heron"], "blue heron blue sky heron")).toEqual(["blue heron", "blue", "heron"]));
});

test("a list of banned words finds the same as checking each word by itself", () => {
  const word = fc.string({ unit: fc.constantFrom(..."abcABC_1\u00e9\u0416"), minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(fc.array(word, { maxLength: 20 }), fc.array(word, { maxLength: 30 }), (entries, words) => {
      const banned = new Set(entries.map((entry) => entry.toLowerCase()));
      expect(found(entries, words.join(" "))).toEqual(words.filter((candidate) => banned.has(candidate.toLowerCase())));
    }),
    { numRuns: 2_000 },
  );
});

test("a finding does not depend on where the search started", () => {
  const detector = bannedWords(["word", "x", "you are", "\u4f60", "e\u0301", "\u304c"]);
  const piece = fc.constantFrom(
    "word",
    "x",
    "you",
    "are",
    " ",
    "\n",
    ".",
    "\u{20000}",
    "\u{20000}\u0abe",
    "\u{20000}\u{e0100}",
    "\u4f60",
    "\u4f60\u0301",
    "\u0301",
    "\u0abe",
    "\u{e0100}",
    "\u0e01\u0e34",
    "\u0e34",
    "\u304b\u3099",
    "e\u0301",
    "\ud83d",
    "\ude00",
    "a",
    "_",
  );
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join("")),
      fc.nat(40),
      (text, at) => {
        const whole = detector.find(text, 0, text.length, true);
        const from = Math.min(at, text.length);
        if (whole.some(({ start, end }) => start < from && end > from)) return;
        expect(detector.find(text, from, text.length, true)).toEqual(whole.filter(({ start }) => start >= from));
      },
    ),
    { numRuns: 5_000 },
  );
});

test("a search for 50,000 banned words takes little more time than for one", () => {
  const text = "The quick brown fox jumps over the lazy dog while the committee reads the minutes. ".repeat(400);
  const best = (entries: readonly string[]) => {
    const detector = bannedWords(entries);
    return Math.min(
      ...Array.from({ length: 9 }, () => {
        const began = cpuMs();
        detector.find(text, 0, text.length, true);
        return cpuMs(began);
      }),
    );
  };
  const one = best(["heron"]);
  const many = best(Array.from({ length: 50_000 }, (_, i) => `w${i.toString(36)}x`));
  console.log(
    `banned words: 1 entry ${((one * 1000) / (text.length / 1024)).toFixed(1)} us/KB, 50 000 entries ${((many * 1000) / (text.length / 1024)).toFixed(1)} us/KB`,
  );
  expect(many).toBeLessThan(one * 4 + 5);
});
