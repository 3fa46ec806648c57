import { expect, test } from "bun:test";
import { Refused } from "../../kernel/errors.ts";
import { type EnrolmentProof, proveEnrolment } from "./enrolment-proof.ts";

const NOW = 1_800_000_000_000;
const MINUTE = 60_000;
const clock = { now: () => NOW, micros: () => NOW * 1000 };
const RIGHT = "the right one";

/** What the proof is refused for; null if it is taken. */
async function refusalOf(proof: EnrolmentProof, hasPassword = true): Promise<string | null> {
  try {
    await proveEnrolment(clock, proof, { hasPassword, isRight: async (password) => password === RIGHT });
    return null;
  } catch (error) {
    return error instanceof Refused ? error.refusal.message : String(error);
  }
}

const signedIn = (minutes: number, renewed = false) => ({ issuedAt: NOW - minutes * MINUTE, renewed });
const NEEDED = "password is required, unless you have just signed in";

test("a sign-in in the last 15 minutes needs no password", async () => {
  expect(await refusalOf({ token: signedIn(14) })).toBeNull();
  expect(await refusalOf({ token: signedIn(16) })).toContain(NEEDED);
});

test("a token that a page renewed, or no token, is no sign-in", async () => {
  expect(await refusalOf({ token: signedIn(0, true) })).toContain(NEEDED);
  expect(await refusalOf({ token: null })).toContain(NEEDED);
});

test("a password that is sent is checked even if none is required", async () => {
  expect(await refusalOf({ token: signedIn(60), password: RIGHT })).toBeNull();
  expect(await refusalOf({ token: signedIn(0), password: "wrong" })).toContain("password is wrong");
});

test("people without a password must have signed in recently, whatever password they send", async () => {
  expect(await refusalOf({ token: signedIn(14) }, false)).toBeNull();
  for (const token of [signedIn(16), signedIn(0, true), null])
    expect(await refusalOf({ token, password: RIGHT }, false)).toContain("Sign out, sign in again");
});
