import { expect, test } from "bun:test";
import { Secret } from "otpauth";
import { newTotpSecret, otpauthUrl, stepOfCode } from "./totp.ts";

/** RFC 6238, appendix B, SHA-1: the last six of its eight digits. */
const RFC_SECRET = Secret.fromLatin1("12345678901234567890").base32;

test.each([
  [59, "287082", 1],
  [1111111109, "081804", 37037036],
  [1234567890, "005924", 41152263],
  [20000000000, "353130", 666666666],
])("the RFC's code at %p s is taken and belongs to its step", (seconds, code, step) => {
  expect(stepOfCode(RFC_SECRET, code, seconds * 1000)).toBe(step);
});

test("a code is taken one step early and late, and not two", () => {
  for (const [ahead, step] of [
    [-30, 1],
    [0, 1],
    [30, 1],
    [61, null],
    [-60, null],
  ] as const)
    expect(stepOfCode(RFC_SECRET, "287082", (59 + ahead) * 1000)).toBe(step);
});

test("what is no six digits is no code", () => {
  for (const code of ["", "28708", "2870820", "28708a", "９４２８７０", " 287082"]) expect(stepOfCode(RFC_SECRET, code, 59_000)).toBeNull();
});

test("an address names issuer and user, and says SHA-1, six digits, thirty seconds", () => {
  const url = new URL(otpauthUrl(newTotpSecret(), "ada & co"));
  expect([url.protocol, url.host, decodeURIComponent(url.pathname)]).toEqual(["otpauth:", "totp", "/Gatehouse:ada & co"]);
  expect(Object.fromEntries(url.searchParams)).toMatchObject({ issuer: "Gatehouse", algorithm: "SHA1", digits: "6", period: "30" });
});
