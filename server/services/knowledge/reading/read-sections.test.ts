import { expect, test } from "bun:test";
import { readSections } from "./read-sections.ts";

test.each([
  ["item;price\nchair;40,50\n", "item: chair; price: 40,50"],
  ["item,note\nchair,good; strong\n", "item: chair; note: good; strong"],
  ["\uFEFF\nitem\tnote\nchair\tred, large; new\n", "item: chair; note: red, large; new"],
  ['"item, kind, age";"note;\nmore"\n"chair; old";40\n', "item, kind, age: chair; old; note;\nmore: 40"],
  ['item,note\nchair,good;"strong"\n', 'item: chair; note: good;"strong"'],
  ["item\nchair\n", "item: chair"],
])("a quoted value of a table may contain separators: %j", async (text, row) => {
  expect((await readSections("csv", new TextEncoder().encode(text)))[0]?.blocks).toEqual([row]);
});
