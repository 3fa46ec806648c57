import { expect, test } from "bun:test";
import { firstFrom, LastTextCache } from "./last-text-cache.ts";

test("a text is read once for all that ask behind the same place, and anew for an earlier place or another text", () => {
  const reads: [string, number][] = [];
  const last = new LastTextCache((text, from) => reads.push([text, from]));
  const ask = (...places: readonly [string, number][]) => places.map(([text, from]) => last.of(text, from));
  expect(ask(["ab", 1], ["ab", 1], ["ab", 2], ["ab", 0], ["ab", 1], ["cd", 1], ["ab", 1])).toEqual([1, 1, 1, 2, 2, 3, 4]);
  expect(reads).toEqual([
    ["ab", 1],
    ["ab", 0],
    ["cd", 1],
    ["ab", 1],
  ]);
});

test("a long text is not kept", () => {
  let reads = 0;
  const last = new LastTextCache(() => ++reads);
  const long = "x".repeat(300 * 1024);
  expect([last.of(long, 0), last.of(long, 0), last.of("x", 0), last.of("x", 0)]).toEqual([1, 2, 3, 3]);
});

test("the first place at or behind another", () => {
  expect([0, 1, 2, 5, 6].map((from) => firstFrom([1, 5], from))).toEqual([0, 0, 1, 1, 2]);
});
