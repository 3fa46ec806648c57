import { expect, test } from "bun:test";
import type { GuardRule } from "../text-guard.ts";
import { GivenPlaceholders } from "./given-placeholders.ts";

const restores = [{ restores: true } as GuardRule];
const REST = [...restores, {} as GuardRule];

test("a value is kept out of what is recorded, also where JSON within JSON escapes it", () => {
  const given = new GivenPlaceholders();
  const value = 'Ann "A\\B" Lee';
  expect(given.give(value, "person", restores)).toBe("[PERSON_1]");
  for (const text of [value, JSON.stringify(value), JSON.stringify(JSON.stringify({ to: value }))]) {
    expect(given.hide(text)).toContain("[PERSON_1]");
    expect(given.hide(text)).not.toContain("Lee");
  }
});

test("the longer of two values is hidden as a whole, and so is what is left of one at the end of a text that was cut", () => {
  const given = new GivenPlaceholders();
  given.give("lee@example.com", "email", restores);
  given.give("ann.lee@example.com", "email", restores);
  expect(given.hide("to ann.lee@example.com")).toBe("to [EMAIL_2]");
  const filler = "x".repeat(20_000);
  expect(given.hide(`${filler} ann.lee@exam`)).toBe(`${filler} `);
  expect(given.hide("short ann.lee@exam")).toBe("short ann.lee@exam");
});

test("a value that any rule redacts for good gets no placeholder of its own, nor do more than 500", () => {
  const given = new GivenPlaceholders();
  expect(given.give("a@example.com", "email", REST)).toBeNull();
  for (let n = 1; n <= 500; n++) expect(given.give(`a${n}@example.com`, "email", restores)).toBe(`[EMAIL_${n}]`);
  expect(given.give("one more", "email", restores)).toBeNull();
  expect(given.give("a7@example.com", "email", restores)).toBe("[EMAIL_7]");
});
