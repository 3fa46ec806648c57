import { expect, test } from "bun:test";
import fc from "fast-check";
import { TextPositions } from "./text-positions.ts";

const texts = fc.string({ unit: fc.constantFrom("a", " ", "\u00fc", "\u6f22", "\u{1f3d4}"), maxLength: 20 });

test("positions count what clients of the format slice", () => {
  fc.assert(
    fc.property(texts, texts, (before, after) => {
      const text = before + after;
      expect(new TextPositions("code units", text).of(before.length)).toBe(before.length);
      expect(new TextPositions("code points", text).of(before.length)).toBe([...before].length);
      expect(new TextPositions("bytes", text).of(before.length)).toBe(Buffer.byteLength(before));
    }),
  );
});

test("positions are read as they are written", () => {
  fc.assert(
    fc.property(texts, texts, fc.constantFrom("code units", "code points", "bytes"), (before, after, unit) => {
      const positions = new TextPositions(unit, before + after);
      expect(positions.from(positions.of(before.length))).toBe(before.length);
    }),
  );
});

test("a position within a character, beyond the text or between two is none", () => {
  const bytes = new TextPositions("bytes", "\u00fcb");
  expect([0, 1, 2, 3, 4, -1, 1.5].map((position) => bytes.from(position))).toEqual([0, null, 1, 2, null, null, null]);
  const points = new TextPositions("code points", "\u{1f3d4}b");
  expect([0, 1, 2, 3].map((position) => points.from(position))).toEqual([0, 2, 3, null]);
  expect(new TextPositions("bytes", "ab").from(0.5)).toBeNull();
});
