import { describe, expect, test } from "bun:test";
import { Refused } from "../../../kernel/errors.ts";
import { queuedHashing, type HashingRequester } from "./password-work.ts";

test("password hashes run one at a time, and one too many in the queue is refused with Retry-After", async () => {
  let running = 0;
  let most = 0;
  const release: (() => void)[] = [];
  const slow = async () => {
    most = Math.max(most, ++running);
    await new Promise<void>((resolve) => release.push(resolve));
    running--;
    return true;
  };
  const work = queuedHashing({
    hashPassword: async () => "",
    verifyPassword: slow,
    dummyVerify: slow,
    hashCode: async () => "",
    verifyCode: slow,
  });
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

test("a hash that fails does not block later ones", async () => {
  const fail = async () => Promise.reject(new Error("no memory"));
  const work = queuedHashing({
    hashPassword: fail,
    verifyPassword: async () => true,
    dummyVerify: async () => false,
    hashCode: fail,
    verifyCode: fail,
  });
  await expect(work.hashPassword("x")).rejects.toThrow("no memory");
  expect(await work.verifyPassword("x", "y")).toBe(true);
});

describe("a flood of logins", () => {
  /** Hashes that finish when released, in the order of their turns. */
  function slow() {
    const order: string[] = [];
    const release: (() => void)[] = [];
    const verifyPassword = async (who: string) => {
      order.push(who);
      await new Promise<void>((resolve) => release.push(resolve));
      return true;
    };
    const work = queuedHashing({
      hashPassword: async () => "",
      verifyPassword,
      dummyVerify: async () => false,
      hashCode: async () => "",
      verifyCode: async () => true,
    });
    const ask = (who: string, turn: HashingRequester) =>
      work.verifyPassword(who, "", turn).then(
        () => "done",
        (error: Refused) => error.refusal.code,
      );
    const finish = async (all: Promise<string>[]) => {
      let open = true;
      void Promise.all(all).then(() => (open = false));
      while (open) {
        release.shift()?.();
        await Promise.resolve();
      }
      return Promise.all(all);
    };
    return { ask, finish, order };
  }
  const from = (of: string): HashingRequester => ({ of, known: false });
  const friend = (of: string): HashingRequester => ({ of, known: true });

  test("from one address takes turns with other addresses, and is refused first if the queue is full", async () => {
    const { ask, finish, order } = slow();
    const storm = Array.from({ length: 64 }, (_, n) => ask(`storm ${n}`, from("storm")));
    const others = [ask("home", from("home")), ask("office", from("office")), ask("home again", from("home"))];
    expect(await finish(others)).toEqual(["done", "done", "done"]);
    expect(order.slice(0, 6)).toEqual(["storm 0", "storm 1", "home", "office", "storm 2", "home again"]);
    const outcomes = await finish(storm);
    expect([outcomes.filter((outcome) => outcome === "done").length, outcomes.slice(61)]).toEqual([61, Array(3).fill("too_many_logins")]);
  });

  test("from many addresses alternates turns with known users, and both make progress", async () => {
    const { ask, finish, order } = slow();
    const strangers = Array.from({ length: 64 }, (_, n) => ask(`stranger ${n}`, from(`place ${n}`)));
    expect(await ask("one stranger more", from("elsewhere"))).toBe("too_many_logins");
    const known = Array.from({ length: 3 }, (_, n) => ask(`friend ${n}`, friend(`friend ${n}`)));
    expect(await finish([...known, ...strangers.slice(0, 4)])).toEqual(Array(7).fill("done"));
    expect(order.slice(0, 7)).toEqual(["stranger 0", "friend 0", "stranger 1", "friend 1", "stranger 2", "friend 2", "stranger 3"]);
    expect(new Set(await finish(strangers))).toEqual(new Set(["done"]));
  });
});
