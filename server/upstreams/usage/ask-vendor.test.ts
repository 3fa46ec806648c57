import { expect, test } from "bun:test";
import { nextPlace, textOr } from "./ask-vendor.ts";

test("a long next-page token of a usage API is used completely", () => {
  const long = "a".repeat(4_000);
  expect(nextPlace(long, "before")).toBe(long);
});

test("a missing, repeated or too long next-page token of a usage API is an error, not the end of the list", () => {
  for (const said of [null, undefined, "", 5]) expect(() => nextPlace(said, null)).toThrow("and not where");
  expect(() => nextPlace("same", "same")).toThrow("is the one that was asked for");
  expect(() => nextPlace("a".repeat(20_000), null)).toThrow("too long");
});

test("characters that PostgreSQL does not accept are replaced in a vendor's names", () => {
  expect(textOr("a\0b\ud800")).toBe("a\ufffdb\ufffd");
});
