import { expect, test } from "bun:test";
import { nanoOf, textOfNano, unitsOfNano } from "./nano-money.ts";

test("amounts are read exactly in any notation", () => {
  expect(nanoOf("123.45", -2)).toBe(1_234_500_000n);
  expect(nanoOf(0.06)).toBe(60_000_000n);
  expect(nanoOf(1e-7)).toBe(100n);
  expect(nanoOf("-0.0000000015")).toBe(-2n);
  expect(nanoOf("12345678901234567890.12")).toBe(12_345_678_901_234_567_890_120_000_000n);
  expect(nanoOf(3)).toBe(3_000_000_000n);
  for (const none of ["", "1,5", "abc", null, undefined, Number.NaN, Number.POSITIVE_INFINITY, {}, "1e9999"])
    expect(nanoOf(none)).toBeNull();
});

test("a thousand times 0.1 is exactly 100", () => {
  const sum = Array.from({ length: 1_000 }, () => nanoOf("0.1") ?? 0n).reduce((all, one) => all + one, 0n);
  expect(unitsOfNano(sum)).toBe(100);
  expect([textOfNano(sum), textOfNano(-1_500_000_000n), textOfNano(1n)]).toEqual(["100.00", "-1.50", "0.000000001"]);
});
