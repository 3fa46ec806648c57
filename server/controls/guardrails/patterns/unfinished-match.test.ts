import { expect, test } from "bun:test";
import fc from "fast-check";
import { RE2JS } from "re2js";
import { LONG_TEST_MS } from "../../../../tests/support/patience.ts";
import { bannedPatterns } from "./banned-patterns.ts";
import { HoldBack } from "../answers/hold-back.ts";
import { redactText } from "../redact.ts";
import { compileTextGuard } from "../text-guard.ts";
import { unfinishedMatch } from "./unfinished-match.ts";

/** Patterns over few letters, so that random texts match them. */
const { pattern } = fc.letrec<{ pattern: string; atom: string }>((tie) => ({
  atom: fc.oneof(
    {
      weight: 6,
      arbitrary: fc.constantFrom("a", "b", "c", "ab", ".", "[ab]", "[^a]", "\\w", "\\d", "\\x61", "\\p{L}", "[[:alpha:]b]", "\\.", "1"),
    },
    { weight: 2, arbitrary: fc.constantFrom("\\b", "^", "$", "\\B", "\\A") },
    { weight: 2, arbitrary: tie("pattern").map((inner) => `(${inner})`) },
    { weight: 1, arbitrary: tie("pattern").map((inner) => `(?i:${inner})`) },
    { weight: 1, arbitrary: tie("pattern").map((inner) => `(?P<n>${inner})`) },
  ),
  pattern: fc
    .array(fc.tuple(tie("atom"), fc.constantFrom("", "", "", "?", "*", "+", "{2}", "{1,3}", "{0,2}?", "+?", "{2,}")), {
      minLength: 1,
      maxLength: 4,
    })
    .chain((parts) =>
      fc.tuple(
        fc.constant(
          parts
            .map(([atom, quantifier]) =>
              /^(?:\\[bBA]|\^|\$)$/.test(atom) ? atom : (atom.length > 1 && /^\w/.test(atom) ? `(?:${atom})` : atom) + quantifier,
            )
            .join(""),
        ),
        fc.option(fc.constantFrom("b", "ca", "\\bab"), { nil: null }),
        fc.constantFrom("", "", "(?i)"),
      ),
    )
    .map(([one, other, flags]) => `${flags}${other === null ? one : `${one}|${other}`}`),
}));
const compiles = (source: string) => {
  try {
    return !RE2JS.compile(source).matches("");
  } catch {
    return false;
  }
};
const usable = pattern.filter((source) => source.length < 80 && !/\(\?P<n>.*\(\?P<n>/.test(source) && compiles(source));
const text = fc.string({ unit: fc.constantFrom("a", "b", "c", "A", "1", " ", ".", "\n", "\u00e9"), maxLength: 40 });

test(
  "every prefix of every match is recognised as an unfinished match",
  () => {
    fc.assert(
      fc.property(usable, text, (source, whole) => {
        const begun = unfinishedMatch(source);
        if (begun === null) return;
        const matcher = RE2JS.compile(source).matcher(whole);
        const unfinished = RE2JS.compile(`(?:${begun})\\z`);
        for (let from = 0; matcher.find(from) && matcher.end() > matcher.start(); from = matcher.end()) {
          for (let end = matcher.start() + 1; end <= matcher.end(); end++) {
            const found = unfinished.matcher(whole.slice(0, end));
            expect([source, whole.slice(0, end), found.find() && found.start() <= matcher.start()]).toEqual([
              source,
              whole.slice(0, end),
              true,
            ]);
          }
          if (matcher.end() >= whole.length) break;
        }
      }),
      { numRuns: 500 },
    );
  },
  LONG_TEST_MS,
);

/** The end of `source`'s match at `at`, at most 95 characters long. */
function endAt(source: string, whole: string, at: number): number | null {
  const base = Math.max(0, at - 1);
  const window = whole.slice(base, at + 96) + (at + 96 <= whole.length ? "\0" : "");
  const matcher = RE2JS.compile(`\\A${at === 0 ? "" : "(?s:.)"}(?:${source})`).matcher(window);
  const end = matcher.find() ? base + matcher.end() : at;
  return end > at && end < at + 96 ? end : null;
}

test(
  "the longest match at the first matching position is found, however rare such positions are",
  () => {
    let matches = 0;
    fc.assert(
      fc.property(fc.array(usable, { minLength: 1, maxLength: 3 }), text, fc.constantFrom(0, 40, 300), (patterns, few, filled) => {
        const detector = bannedPatterns(patterns);
        if ("problems" in detector) return;
        const whole = `${few}${"-".repeat(filled)}${few}`;
        const expected: [number, number][] = [];
        for (let at = 0; at < whole.length;) {
          const ends = patterns.map((source) => endAt(source, whole, at)).filter((end) => end !== null);
          if (ends.length > 0) expected.push([at, Math.max(...ends)]);
          at = ends.length > 0 ? Math.max(...ends) : at + 1;
        }
        matches += expected.length;
        expect([patterns, whole, detector.find(whole, 0, whole.length, true).map(({ start, end }) => [start, end])] as unknown).toEqual([
          patterns,
          whole,
          expected,
        ]);
      }),
      { numRuns: 150 },
    );
    expect(matches).toBeGreaterThan(50);
  },
  LONG_TEST_MS,
);

test(
  "a stream is redacted like the whole text, with any pattern",
  () => {
    fc.assert(
      fc.property(fc.array(usable, { minLength: 1, maxLength: 2 }), text, fc.integer({ min: 1, max: 7 }), (patterns, whole, size) => {
        const guard = compileTextGuard({ bannedPatterns: { action: "redact", patterns } });
        if ("problems" in guard) return;
        const stream = new HoldBack(guard);
        let out = "";
        for (let at = 0; at < whole.length; at += size) out += stream.push(whole.slice(at, at + size));
        expect([patterns, out + stream.end()]).toEqual([patterns, redactText(guard, whole).text]);
      }),
      { numRuns: 500 },
    );
  },
  LONG_TEST_MS,
);

test("only text that may become a match is held back", () => {
  const detector = bannedPatterns(["\\bEMP-\\d{4,6}\\b", "(?i)confidential.{0,20}internal", "[A-Z]{2}\\d{7}"]);
  if ("problems" in detector) throw new Error(JSON.stringify(detector));
  const held = (end: string) => end.length - detector.openFrom(end);
  expect(
    [
      "The meeting is at noon ",
      "see EMP-12",
      "see EMP-123456",
      "It is Confidential, as ",
      "It is confidential, and that is all there is ",
      "code AB12",
      "",
      "x".repeat(500),
    ].map(held),
  ).toEqual([0, 6, 10, 17, 0, 4, 0, 0]);
});

test("a pattern with unsupported syntax holds back as much text as its longest match", () => {
  expect(["\\Qa.b\\E", "a(?i)b|c", "\\101"].map(unfinishedMatch)).toEqual([null, null, null]);
  const detector = bannedPatterns(["\\Qa.b\\E"]);
  if ("problems" in detector) throw new Error(JSON.stringify(detector));
  expect(detector.openFrom("y".repeat(200))).toBe(105);
});
