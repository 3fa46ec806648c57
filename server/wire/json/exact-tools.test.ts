import { expect, test } from "bun:test";
import { writtenWithExactTools } from "./exact-tools.ts";

test("a rewritten answer keeps every digit of tool arguments", () => {
  const json = '{"content":[{"type":"text","text":"joe@example.com"},{"type":"tool_use","input":{"id":1234567890123456789,"rate":1.50}}]}';
  const value = JSON.parse(json);
  value.content[0].text = "[REDACTED:email]";
  expect(writtenWithExactTools(value, json)).toBe(json.replace("joe@example.com", "[REDACTED:email]").replace("1.50", "1.5"));
});

test("an object whose source is no JSON is written without exact digits", () => {
  expect(writtenWithExactTools({ args: 1 }, 'no "args": 12345678901234567')).toBe('{"args":1}');
});
