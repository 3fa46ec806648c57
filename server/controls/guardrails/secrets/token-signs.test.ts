import { expect, test } from "bun:test";
import { tokenSigns } from "./token-signs.ts";

test("a text may contain a token only at or after a sign of its issuer", () => {
  const one = tokenSigns("one.1-", "uno_");
  const other = tokenSigns("two_");
  const text = "two_abc uno_def one.1-";
  expect([one(text, 0), other(text, 0)]).toEqual([true, true]);
  expect([one(text, 1), other(text, 1)]).toEqual([true, false]);
  expect([one(text, 17), other(text, 17)]).toEqual([false, false]);
  expect([one("one21-", 0), other("", 0)]).toEqual([false, false]);
});
