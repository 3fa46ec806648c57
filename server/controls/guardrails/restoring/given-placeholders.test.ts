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

test("what is left of a value at the end of a text that was cut is hidden, however much shorter the placeholders made the text", () => {
  const given = new GivenPlaceholders();
  const value = `${"a".repeat(60)}@${"b".repeat(60)}.com`;
  given.give(value, "email", restores);
  const cut = value.repeat(200).slice(0, 20_000);
  expect(given.hide(cut)).toBe("[EMAIL_1]".repeat(Math.floor(cut.length / value.length)));
});

test("an answer grows only so far by repeating a placeholder", () => {
  const given = new GivenPlaceholders();
  expect(given.give(`4111${"\u200b".repeat(253)}1`, "credit_card", restores)).toBeNull();
  const value = `4111${"\u200b".repeat(251)}1`;
  expect(given.give(value, "credit_card", restores)).toBe("[CREDIT_CARD_1]");
  let length = 0;
  for (let n = 0; n < 100_000; n++) length += given.restore("[CREDIT_CARD_1]", "placeholder", restores)?.length ?? 0;
  expect(length).toBeLessThan(18_000_000);
  expect(given.restore("[CREDIT_CARD_1]", "placeholder", restores)).toBe("[CREDIT_CARD_1]");
});
