import { describe, expect, test } from "bun:test";
import { previewOf } from "./content.ts";

const CAP = 64 * 1024;

describe("a stored preview is at most 64 KiB of whole characters", () => {
  test.each([
    ["ASCII", "a", "a".repeat(CAP)],
    ["two bytes a character", "é", "é".repeat(CAP / 2)],
    ["three bytes a character", "€", "€".repeat(Math.floor(CAP / 3))],
    ["surrogate pairs", "😀", "😀".repeat(CAP / 4)],
  ])("%s", (_name, character, whole) => {
    const long = character.repeat(CAP + 1);
    expect(previewOf(long, "full") === whole).toBe(true);
    expect(previewOf(new TextEncoder().encode(long), "full") === whole).toBe(true);
  });

  test.each(["", "short", "a".repeat(CAP), "é".repeat(CAP / 2)])("what fits stays whole", (text) => {
    expect(previewOf(text, "full") === text).toBe(true);
  });
});

test("without bodies there is no preview", () => {
  expect(previewOf("text", "none")).toBeNull();
});
