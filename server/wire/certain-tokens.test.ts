import { expect, test } from "bun:test";
import { haveMoreTokensThan } from "./certain-tokens.ts";

test.each([
  [[], 0, false],
  [["one"], 0, true],
  [["one two", "three"], 2, true],
  [["one two", "three"], 3, false],
  [["  one\n\n two\tthree  "], 3, false],
  [["一二三四五六七八九十"], 1, false],
])("words of %j are more than %d: %p", (texts, tokens, more) => {
  expect(haveMoreTokensThan(tokens, texts)).toBe(more);
});
