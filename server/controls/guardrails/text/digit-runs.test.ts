import { expect, test } from "bun:test";
import fc from "fast-check";
import { scanNumbers } from "./digit-runs.ts";

const text = fc.string({ unit: fc.constantFrom("1", "2", "30", " ", "-", "a", "DE", "\u00e9", "\u4f60", "_", "+"), maxLength: 30 });
/** A run of digits that does not continue a word, or one directly after two letters. */
const RUN = /(?<![\p{Script=Latin}0-9_])\d+|(?<=(?<![\p{Script=Latin}0-9_])[A-Za-z]{2})\d+/gu;

test("each run of digits outside words is examined once, wherever the search starts and whatever was read before", () => {
  fc.assert(
    fc.property(text, fc.nat(30), fc.nat(30), (whole, one, other) => {
      for (const from of [one, other]) {
        const asked: (readonly [number, number])[] = [];
        scanNumbers(whole, from, whole.length, 0, (start, end) => {
          asked.push([start, end]);
          return null;
        });
        expect(asked).toEqual(
          [...whole.matchAll(RUN)].map(({ index, 0: run }) => [index, index + run.length] as const).filter(([start]) => start >= from),
        );
      }
    }),
    { numRuns: 300 },
  );
});

test("digits inside a number already found are not examined again", () => {
  const asked: number[] = [];
  const found = scanNumbers("11 22 33 44", 0, 9, 0, (start) => {
    asked.push(start);
    return start === 3 ? { category: "phone", start, end: 8, score: 1 } : null;
  });
  expect([asked, found.length]).toEqual([[0, 3], 1]);
});
