import { expect, test } from "bun:test";
import { faultWord } from "./fault-word.ts";

const wordOf = (body: unknown, headers: Record<string, string> = {}) =>
  faultWord(new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body)), new Headers(headers));

test.each([
  [{ error: { message: "Too long", type: "invalid_request_error", code: "context_length_exceeded" } }, "context_length_exceeded"],
  [{ error: { message: "Bad", type: "invalid_request_error", code: null } }, "invalid_request_error"],
  [{ type: "error", error: { type: "not_found_error", message: "model: x" } }, "not_found_error"],
  [{ error: { code: 400, status: "INVALID_ARGUMENT", message: "Bad" } }, "INVALID_ARGUMENT"],
  [[{ error: { code: 400, status: "INVALID_ARGUMENT", message: "Bad" } }], "INVALID_ARGUMENT"],
  [{ __type: "com.amazon.coral.service#ValidationException" }, "ValidationException"],
  [{ object: "error", message: "Bad", type: "BadRequestError", code: 400 }, "BadRequestError"],
])("the error code of %j is %s", (body, word) => {
  expect(wordOf(body)).toBe(word);
});

test("the error code is taken from Amazon's header", () => {
  expect(wordOf({ message: "Bad" }, { "x-amzn-errortype": "ValidationException:http://internal.amazon.com/" })).toBe("ValidationException");
});

test.each([
  [{ error: { message: "ada@example.com is not a tool" } }],
  [{ error: { code: "sk-live-0123456789abcdef", type: "no such person: Ada" } }],
  [{ error: { code: `a${"a".repeat(100)}` } }],
  [{ error: "a text" }],
  ["<html>"],
  ["null"],
])("free text is not taken as an error code: %j", (body) => {
  expect(wordOf(body)).toBeNull();
});

test("a body over the size limit is not searched for an error code", () => {
  expect(wordOf(`{"error":{"code":"too_long"},"pad":"${" ".repeat(70_000)}"}`)).toBeNull();
});
