import { expect, test } from "bun:test";
import fc from "fast-check";
import { PrefixSets } from "./prefix-sets.ts";
import { patternPrefixes } from "./pattern-prefixes.ts";

const processMessages = fc.string({ unit: fc.constantFrom("a", "b", "B", "é", "я", "你", " ", "\n", "<"), minLength: 1, maxLength: 8 });

test("a prefix is found at its position, in any case and with any white space", () => {
  fc.assert(
    fc.property(fc.array(processMessages, { minLength: 1, maxLength: 20 }), processMessages, fc.string(), (beginnings, before, after) => {
      const set = new PrefixSets(beginnings);
      for (const beginning of beginnings)
        expect(set.stateAt(`${before}${beginning.toUpperCase().replaceAll("\n", "\t")}${after}`, before.length)).not.toBe(0);
    }),
  );
});

test("positions without a prefix are skipped", () => {
  const set = new PrefixSets(["ignore", "<|", "you are"]);
  const text = "They ignited a <b> and your area";
  expect([...text].flatMap((_, at) => (set.stateAt(text, at) === 0 ? [] : [at]))).toEqual([]);
});

test("several sets searched together give the same results as each alone", () => {
  const set = fc.array(processMessages, { maxLength: 6 });
  fc.assert(
    fc.property(fc.array(set, { minLength: 1, maxLength: 8 }), processMessages, fc.string(), (sets, there, after) => {
      const text = there + after;
      const together = new PrefixSets(...sets);
      for (let at = 0; at < text.length; at++) {
        expect(together.stateAt(text, at)).toBe(
          sets.reduce((sum, alone, bit) => sum | (new PrefixSets(alone).stateAt(text, at) << bit), 0),
        );
      }
    }),
    { numRuns: 10 },
  );
});

test("the literal prefixes of a regular expression are extracted", () => {
  expect([...patternPrefixes("(?:ignore|m[\\u00e1a]tate)\\b|\\u0442\\u0435\\u043b|(?<!x)calls?$|\\bt[\\u00e9e]?l|[a-z]")]).toEqual([
    "ignore",
    "m\u00e1tate",
    "matate",
    "\u0442\u0435\u043b",
    "calls",
    "call",
    "t\u00e9l",
    "tel",
    "tl",
    "",
  ]);
});
