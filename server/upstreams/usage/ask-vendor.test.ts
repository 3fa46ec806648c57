import { expect, test } from "bun:test";
import { nextPlace, textOr } from "./ask-vendor.ts";

test("the place of the next page is taken whole", () => {
  const long = "a".repeat(4_000);
  expect(nextPlace(long, "before")).toBe(long);
});

test("a vendor that does not say where it goes on, or goes on where it was, is not believed to be at its end", () => {
  for (const said of [null, undefined, "", 5]) expect(() => nextPlace(said, null)).toThrow("and not where");
  expect(() => nextPlace("same", "same")).toThrow("is the one that was asked for");
  expect(() => nextPlace("a".repeat(20_000), null)).toThrow("too long");
});

test("names can be kept in the database, whatever a vendor puts in them", () => {
  expect(textOr("a\0b\ud800")).toBe("a\ufffdb\ufffd");
});
