import { expect, test } from "bun:test";
import { RequestHeaders } from "./request-headers.ts";

const MANY: [string, string][] = [
  ["X-Gw-Run-Id", "r"],
  ["Accept", "a"],
  ["accept", "b"],
  ["Set-Cookie", "c=1"],
  ["set-cookie", "d=2"],
  ["X-Empty", ""],
];

test("headers are found by name, ignoring case, as in the platform's Headers", () => {
  const platform = new Headers(MANY);
  const headers = new RequestHeaders(platform);
  for (const name of ["x-gw-run-id", "X-Gw-Run-ID", "accept", "x-empty", "missing", "constructor"])
    expect(headers.get(name)).toBe(platform.get(name));
  expect(headers.all).toEqual({ "x-gw-run-id": "r", accept: "a, b", "x-empty": "" });
});

test("the result is the same on a platform without Headers.toJSON", () => {
  const platform = new Headers(MANY);
  Object.defineProperty(platform, "toJSON", { value: undefined });
  expect(new RequestHeaders(platform).all).toEqual(new RequestHeaders(new Headers(MANY)).all);
});
