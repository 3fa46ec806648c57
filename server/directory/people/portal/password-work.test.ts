import { expect, test } from "bun:test";
import { Refused } from "../../../kernel/errors.ts";
import { inTurn } from "./password-work.ts";

test("slow hashes run one at a time, and one too many is refused with when to come again", async () => {
  let running = 0;
  let most = 0;
  const release: (() => void)[] = [];
  const slow = async () => {
    most = Math.max(most, ++running);
    await new Promise<void>((resolve) => release.push(resolve));
    running--;
    return true;
  };
  const work = inTurn({ hashPassword: async () => "", verifyPassword: slow, dummyVerify: slow, hashCode: async () => "", verifyCode: slow });
  const all = Array.from({ length: 64 }, () => work.verifyPassword("a", "b"));
  const refused = await work.dummyVerify("x").catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(Refused);
  expect((refused as Refused).refusal).toMatchObject({ code: "too_many_logins", headers: { "retry-after": "1" } });
  for (let done = 0; done < 64; done++) {
    while (release.length === 0) await Promise.resolve();
    release.pop()?.();
  }
  expect([(await Promise.all(all)).length, most]).toEqual([64, 1]);
  expect(await work.hashPassword("after")).toBe("");
});

test("a hash that fails holds nobody up", async () => {
  const fail = async () => Promise.reject(new Error("no memory"));
  const work = inTurn({ hashPassword: fail, verifyPassword: async () => true, dummyVerify: async () => false, hashCode: fail, verifyCode: fail });
  await expect(work.hashPassword("x")).rejects.toThrow("no memory");
  expect(await work.verifyPassword("x", "y")).toBe(true);
});
