import { expect, test } from "bun:test";
import { lowerUnits, unitsOf } from "./code-units.ts";

const EACH = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code));

test.each(["\\s", "\\u0000-\\u0008\\uFF01-\\uFF5E", "A-Za-z0-9_\\u00C0-\\u00D6"])(
  "the code units of the class [%s] are those the regular expression matches",
  (characters) => {
    const one = new RegExp(`[${characters}]`);
    expect([...unitsOf(characters)]).toEqual(EACH.map((character) => (one.test(character) ? 1 : 0)));
    expect([...unitsOf(characters, 0x100)]).toEqual(EACH.slice(0, 0x100).map((character) => (one.test(character) ? 1 : 0)));
  },
);

test("the lower-case table has the lower case of each code unit", () => {
  expect([...lowerUnits()]).toEqual(EACH.map((character) => character.toLowerCase().charCodeAt(0)));
});
