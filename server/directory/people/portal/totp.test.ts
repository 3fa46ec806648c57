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
])("the RFC 6238 code at %p s is accepted and assigned to its time step", (seconds, code, step) => {
  expect(stepOfCode(RFC_SECRET, code, seconds * 1000)).toBe(step);
});

test("a code is accepted one time step early or late, but not two", () => {
  for (const [ahead, step] of [
    [-30, 1],
    [0, 1],
    [30, 1],
    [61, null],
    [-60, null],
  ] as const)
    expect(stepOfCode(RFC_SECRET, "287082", (59 + ahead) * 1000)).toBe(step);
});

test("anything but six digits is rejected as a TOTP code", () => {
  for (const code of ["", "28708", "2870820", "28708a", "９４２８７０", " 287082"]) expect(stepOfCode(RFC_SECRET, code, 59_000)).toBeNull();
});

test("the otpauth URL contains issuer, user, SHA-1, six digits and a period of 30 seconds", () => {
  const url = new URL(otpauthUrl(newTotpSecret(), "ada & co"));
  expect([url.protocol, url.host, decodeURIComponent(url.pathname)]).toEqual(["otpauth:", "totp", "/Gatehouse:ada & co"]);
  expect(Object.fromEntries(url.searchParams)).toMatchObject({ issuer: "Gatehouse", algorithm: "SHA1", digits: "6", period: "30" });
});
