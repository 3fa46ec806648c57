import { expect, test } from "bun:test";
import { FrameTooLarge, refuseCostlyFrame } from "./stream-bounds.ts";

const LONG = 20_000;
const refused = (text: string): boolean => {
  try {
    refuseCostlyFrame(new TextEncoder().encode(text));
    return false;
  } catch (error) {
    if (error instanceof FrameTooLarge) return true;
    throw error;
  }
};
const many = "[".repeat(2_000);

test.each([1_023, 1_024, 1_025, 2_048, 3_071, 3_072, 3_073, LONG])(
  "in a stream frame, brackets within a string of %i bytes do not count as values",
  (length) => {
    const filled = "a".repeat(length);
    const room = " ".repeat(LONG);
    expect(refused(`${room}"${filled}${many}"`)).toBe(false);
    // An escaped quote does not end it, a quote after an escaped backslash does.
    expect(refused(`${room}"${filled}\\"${many}"`)).toBe(false);
    expect(refused(`${room}"${filled}\\\\"${many}`)).toBe(true);
  },
);

test.each([1_023, 1_024, 1_025, 2_048, 3_071, 3_072, 3_073, LONG])(
  "in a stream frame, brackets after a string of %i bytes count as values again",
  (length) => {
    const filled = "a".repeat(length);
    const room = " ".repeat(LONG);
    expect(refused(`${room}"${filled}"${many}`)).toBe(true);
    for (const end of ["\n", "\r"]) expect(refused(`${room}"${filled}${end}${many}`)).toBe(true);
    expect(refused(`${room}"${filled}`)).toBe(false);
  },
);
