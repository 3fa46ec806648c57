import { expect, test } from "bun:test";
import { firstFrom, LastTextCache } from "./last-text-cache.ts";

test("the cache reads a text once for the same or a later start, and again for an earlier start or another text", () => {
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

test("a long text is not cached", () => {
  let reads = 0;
  const last = new LastTextCache(() => ++reads);
  const long = "x".repeat(300 * 1024);
  expect([last.of(long, 0), last.of(long, 0), last.of("x", 0), last.of("x", 0)]).toEqual([1, 2, 3, 3]);
});

test("firstFrom gives the index of the first position at or after another", () => {
  expect([0, 1, 2, 5, 6].map((from) => firstFrom([1, 5], from))).toEqual([0, 0, 1, 1, 2]);
});
