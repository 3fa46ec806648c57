import { expect, test } from "bun:test";
import { JsonDocument } from "./document.ts";

test("a respelled JSON member keeps its text until it is changed", () => {
  const document = JsonDocument.read(new TextEncoder().encode('{"a": 1.0, "b":{"n":10000000000000001}}'));
  if (!(document instanceof JsonDocument)) throw new Error("it cannot be read");
  document.respell("b", '{"n":10000000000000001,"m":1}');
  expect([document.text(), document.memberText("b")]).toEqual([
    '{"a": 1.0, "b":{"n":10000000000000001,"m":1}}',
    '{"n":10000000000000001,"m":1}',
  ]);
  document.set("b", { m: 2 });
  expect(document.text()).toBe('{"a": 1.0, "b":{"m":2}}');
});
