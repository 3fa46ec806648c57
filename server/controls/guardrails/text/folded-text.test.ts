import { expect, test } from "bun:test";
import fc from "fast-check";
import { foldText } from "./folded-text.ts";

test("digits, letters, spaces and punctuation in other forms fold to ASCII, and invisible characters are removed", () => {
  expect(foldText("\uff14\uff11\uff11\uff11\u3000\u0664\u0661\u00a0\u{1D7D2}\u{1D40A}\u2013\u2212\u201cx\u2019").text).toBe(
    "4111 41 4K--\"x'",
  );
  expect(foldText("jo\u200be\ufeff@ex\u00adample.com").text).toBe("joe@example.com");
  expect(foldText("caf\u00e9 \u4f60\u597d \u{1F600}").text).toBe("caf\u00e9 \u4f60\u597d \u{1F600}");
});

test("digits of every script fold to ASCII", () => {
  const digits: string[] = [];
  for (let code = 0x80; code <= 0x1ffff; code++) {
    const character = String.fromCodePoint(code);
    if (/\p{Nd}/u.test(character)) digits.push(character);
  }
  expect(digits.length).toBeGreaterThanOrEqual(640);
  // Each script has its ten digits, in order.
  expect(foldText(digits.join("")).text).toBe("0123456789".repeat(digits.length / 10));
});

test("an underscore escaped for Markdown folds to a plain one, and other backslashes stay", () => {
  expect(foldText("ghp\\_abc\\_\\_ C:\\dir a\\\\_b \\").text).toBe("ghp_abc__ C:\\dir a\\_b \\");
});

test("combining marks that strike out, underline or enclose are removed, and those that form letters stay", () => {
  for (const mark of ["\u0336", "\u0338", "\u0332", "\u20e3", "\ufe0f\u20e3", "\u20dd"])
    expect(foldText([..."titan 4111"].map((character) => character + mark).join("")).text).toBe("titan 4111");
  expect(foldText("gru\u0308n").text).toBe("gru\u0308n");
});

test("invisible characters outside the BMP are removed, and visible ones with the same surrogates stay", () => {
  for (const invisible of [
    "\u{E0100}",
    "\u{E01EF}",
    "\u{E0001}",
    "\u{E0041}",
    "\u{E0FFF}",
    "\u{1D173}",
    "\u{1D17A}",
    "\u{1BCA0}",
    "\u{1BCA3}",
  ])
    expect(foldText(`se${invisible}cr${invisible}${invisible}et`).text).toBe("secret");
  const visible = "\u{1D172}\u{1D17B}\u{1BC9F}\u{1BCA4}\u{DFFFF}\u{1F600}";
  expect(foldText(visible).text).toBe(visible);
  expect(foldText("a\udb40b\ud834").text).toBe("a\udb40b\ud834");
});

const text = fc
  .array(
    fc.constantFrom(
      "a",
      "1",
      " ",
      "\u200b",
      "\uff11",
      "\u{1D7D2}",
      "\ud835",
      "\udfd2",
      "\u{E0100}",
      "\u{1D173}",
      "\udb40",
      "\u00e9",
      "\u{1F600}",
      "\ufeff",
      "\\",
      "_",
    ),
    { maxLength: 400 },
  )
  .map((parts) => parts.join(""));

test("positions map to the original text and back, in order", () => {
  fc.assert(
    fc.property(text, (original) => {
      const folded = foldText(original);
      expect(folded.toOriginal(folded.text.length)).toBe(original.length);
      let last = -1;
      for (let at = 0; at < folded.text.length; at++) {
        const place = folded.toOriginal(at);
        expect(place).toBeGreaterThan(last);
        expect(folded.toFolded(place)).toBe(at);
        expect(folded.endToOriginal(at + 1)).toBeGreaterThan(place);
        expect(folded.endToOriginal(at + 1)).toBeLessThanOrEqual(original.length);
        last = place;
      }
    }),
    { numRuns: 500 },
  );
});

test("a word among any number of invisible characters is found", () => {
  for (const many of ["\u200B".repeat(200), "\u{E0100}".repeat(200), "\u0000\u0008\u001B\u007F\u0090"])
    expect(foldText([..."titanium"].join(many)).text).toBe("titanium");
  expect(foldText("a\tb\nc\u0085d").text).toBe("a\tb\nc\u0085d");
});
