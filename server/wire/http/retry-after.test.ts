import { expect, test } from "bun:test";
import { msOfRetryAfter } from "./retry-after.ts";

const NOW = Date.parse("2026-11-21T12:00:00Z");
const MAX_MS = 60_000;

test.each([
  ["7", 7_000],
  ["1.5", 1_500],
  ["99999999999", MAX_MS],
  ["Sat, 21 Nov 2026 12:00:09 GMT", 9_000],
  ["Sat, 21 Nov 2026 11:59:59 GMT", null],
  ["soon", null],
  [null, null],
])("Retry-After %p asks for a wait of %p ms", (text, ms) => {
  expect(msOfRetryAfter(new Headers(text === null ? {} : { "retry-after": text }), NOW, MAX_MS)).toBe(ms);
});
