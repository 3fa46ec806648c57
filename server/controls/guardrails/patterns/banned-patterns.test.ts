import { describe, expect, test } from "bun:test";
import { bannedPatterns, largePatterns } from "./banned-patterns.ts";
import { cpuMs } from "../../../../tests/support/processes/cpu-time.ts";

function compiled(patterns: readonly string[]) {
  const detector = bannedPatterns(patterns);
  if ("problems" in detector) throw new Error(JSON.stringify(detector.problems));
  return detector;
}

function found(patterns: readonly string[], text: string): string[] {
  return compiled(patterns)
    .find(text, 0, text.length, true)
    .map(({ start, end }) => text.slice(start, end));
}

describe("a banned pattern finds", () => {
  const cases: readonly (readonly [pattern: string, text: string, found: readonly string[]])[] = [
    ["EMP-\\d{4}", "EMP-1234 xEMP-5678", ["EMP-1234", "EMP-5678"]],
    ["\\bEMP-\\d{4}\\b", "EMP-1234 xEMP-5678 EMP-99999", ["EMP-1234"]],
    ["(?i)secret (plan|code)", "The SECRET Plan and the secret codex", ["SECRET Plan", "secret code"]],
    ["^start", "start and start", ["start"]],
    ["end$", `end ${"word ".repeat(60)}the end`, ["end"]],
    ["(a+)+$", `${"a".repeat(500)} aa`, ["aa"]],
    ["a{3}", "aaaaaaa", ["aaa", "aaa"]],
    ["\\p{Greek}+", "alpha \u03b1\u03b2\u03b3 beta", ["\u03b1\u03b2\u03b3"]],
    ["x.*y", `x${"-".repeat(93)}y x${"-".repeat(94)}y`, [`x${"-".repeat(93)}y`]],
    ["a|ab", "ab", ["a"]],
  ];
  for (const [pattern, text, expected] of cases)
    test(`${pattern} in ${text.slice(0, 30)}`, () => expect(found([pattern], text)).toEqual([...expected]));

  test("the first of several matches, and the longest of those with the same start", () =>
    expect(found(["foo", "foobar", "bar"], "a foobar bar")).toEqual(["foobar", "bar"]));
  test("the whole of a long match that contains a short one, wherever it is among many partial matches", () => {
    const key = `k${"a".repeat(30)}kx${"a".repeat(48)}`;
    const filler = "kaaaaaa ";
    for (let before = 0; before < 60; before++)
      expect(found(["k[a-z]{80}|kx"], `${filler.repeat(before)}${key} ${filler.repeat(80)}`)).toEqual([key]);
  });
  test("matches far into a long text, across chunk boundaries", () => {
    const filler = "lorem ipsum ".repeat(500);
    for (let shift = 0; shift < 12; shift++)
      expect(found(["EMP-\\d{4}"], `${filler.slice(shift)}EMP-1234${filler}EMP-5678`)).toEqual(["EMP-1234", "EMP-5678"]);
  });
});

describe("an invalid pattern is refused with its index and the reason:", () => {
  const cases: readonly (readonly [pattern: string, reason: RegExp])[] = [
    ["(?=a)b", /look-around/],
    ["(?<!a)b", /look-around/],
    ["(?>a)b", /atomic/],
    ["(a)\\1", /back-references/],
    ["(?P<n>a)\\k<n>", /back-references/],
    ["(", /missing closing/],
    ["a{1001}", /repeat/],
    ["a*", /empty/],
    ["", /1 to 1000/],
    ["x".repeat(1001), /1 to 1000/],
  ];
  for (const [pattern, reason] of cases) {
    test(pattern.slice(0, 20), () => {
      const result = bannedPatterns(["fine", pattern]);
      expect(result).toEqual({ problems: [{ index: 1, pattern, message: expect.stringMatching(reason) }] });
    });
  }
});

test("patterns too large because of repeat counts are refused when stored, but not long literal ones", () => {
  expect(largePatterns(["fine", "(x{1,30}){1,30}y", "x".repeat(1000), "(a?b|c)+".repeat(125), "\\d{1,95}"])).toEqual([
    { index: 1, pattern: "(x{1,30}){1,30}y", message: expect.stringMatching(/too large: .* 1200 are allowed/) },
  ]);
});

test("the end of a stream is inspected in bounded time with any pattern", () => {
  for (const pattern of ["(x{1,30}){1,30}y", "(.{1,90}){2}y", "[a-z]{1,90}[a-z]{1,90}[a-z]{1,90}q", "(x{1,1000})y"]) {
    const detector = compiled([pattern]);
    const text = "x".repeat(600);
    const began = cpuMs();
    for (let end = 500; end < 600; end++) detector.openFrom(text.slice(0, end));
    const each = cpuMs(began) / 100;
    console.log(`${pattern.padEnd(36)} ${each.toFixed(3)} ms for each piece`);
    expect(each).toBeLessThan(20);
  }
});

test("hostile patterns take time linear in the text", () => {
  const hostile: readonly (readonly [pattern: string, text: string])[] = [
    ["(a+)+$", "a".repeat(20_000)],
    ["(a|aa)+b", "a".repeat(20_000)],
    ["(.*)(.*)(.*)x", "y".repeat(20_000)],
    ["a[^b]*b", `${"a".repeat(20_000)}b`],
    ["([a-z]+)*\\d", "abc ".repeat(5_000)],
    ["(x{1,30}){1,30}y", "x".repeat(20_000)],
  ];
  for (const [pattern, text] of hostile) {
    const detector = compiled([pattern]);
    const began = cpuMs();
    detector.find(text, 0, text.length, true);
    const perKilobyte = (cpuMs(began) * 1000) / (text.length / 1024);
    console.log(`${pattern.padEnd(20)} ${perKilobyte.toFixed(0)} us/KB`);
    expect(perKilobyte).toBeLessThan(100_000);
  }
});

test("a search in steps finds the same as an uninterrupted one", () => {
  const detector = compiled(["(?:xy|yx|x|y){90,95}q", "x[^z]{60,93}y", "EMP-\\d{4}", "qx?"]);
  let seed = 11;
  const letters = (length: number) => Array.from({ length }, () => "xyzq".charAt((seed = (seed * 16_807) % 2_147_483_647) % 4)).join("");
  for (const text of [letters(3_000), "xy".repeat(700) + "q".repeat(3), `${"x".repeat(500)}yEMP-1234${letters(600)}`]) {
    const inSteps: unknown[] = [];
    let breaks = 0;
    for (let at = 0; at < text.length; breaks++) {
      const some = detector.findSome?.(text, at, text.length, true);
      if (some === undefined) throw new Error("it never stops");
      inSteps.push(...some.found);
      at = Math.max(some.upTo, some.found.at(-1)?.end ?? 0);
    }
    expect(inSteps).toEqual(detector.find(text, 0, text.length, true));
    expect(breaks).toBeGreaterThan(1);
  }
});
