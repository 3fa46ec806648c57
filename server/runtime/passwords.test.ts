import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { until } from "../../tests/support/until.ts";
import { dummyVerify, hashCode, hashPassword, verifyCode, verifyPassword } from "./passwords.ts";

test("a password is hashed with argon2id, 19 MiB and two passes, and verified", async () => {
  const hash = await hashPassword("correct horse");
  expect(hash).toStartWith("$argon2id$v=19$m=19456,t=2,");
  expect(await verifyPassword("correct horse", hash)).toBe(true);
  expect(await verifyPassword("wrong horse", hash)).toBe(false);
});

test("a password matches in every Unicode normalization, also against hashes of unnormalized text", async () => {
  const composed = "l\u00e4ngere P\u00e4sse";
  const decomposed = composed.normalize("NFD");
  expect(decomposed).not.toBe(composed);
  for (const hash of [
    await hashPassword(composed),
    await hashPassword(decomposed),
    Bun.password.hashSync(composed),
    Bun.password.hashSync(decomposed),
  ]) {
    expect([
      await verifyPassword(composed, hash),
      await verifyPassword(decomposed, hash),
      await verifyPassword("langere Passe", hash),
    ]).toEqual([true, true, false]);
  }
  const mixed = "l\u00e4ngere Pa\u0308sse";
  expect(await verifyPassword(mixed, Bun.password.hashSync(mixed))).toBe(true);
});

test("an invalid hash verifies no password", async () => {
  for (const hash of ["", "plain", "$argon2id$", "$argon2id$v=19$m=1,t=1$x", "$2b$10$abcdefghijklmnopqrstuv"])
    expect(await verifyPassword("plain", hash)).toBe(false);
});

test("verification for an unknown user always fails", async () => {
  expect(await dummyVerify("anything")).toBe(false);
});

test("a backup code is hashed with bcrypt and verified", async () => {
  const hash = await hashCode("0abc2def3ghj");
  expect(hash).toStartWith("$2b$");
  expect([await verifyCode("0abc2def3ghj", hash), await verifyCode("0abc2def3ghk", hash), await verifyCode("x", "no hash")]).toEqual([
    true,
    false,
    false,
  ]);
});

test.skipIf(process.platform !== "linux")("the thread ends when nothing is left to hash, and starts again", async () => {
  const threads = () => readdirSync("/proc/self/task").map((id) => readFileSync(`/proc/self/task/${id}/comm`, "utf8").trim());
  const code = await hashCode("0abc2def3ghj");
  expect(threads()).toContain("Worker");
  await until(() => !threads().includes("Worker"));
  expect(await verifyCode("0abc2def3ghj", code)).toBe(true);
});
