import { expect, test } from "bun:test";
import { coalesced } from "./coalesced.ts";

function counted() {
  const begun: PromiseWithResolvers<void>[] = [];
  const ask = coalesced(() => {
    const work = Promise.withResolvers<void>();
    begun.push(work);
    return work.promise;
  });
  return { begun, ask };
}

test("requests made during a run share one further run that begins after it", async () => {
  const { begun, ask } = counted();
  const first = ask();
  const others = Array.from({ length: 50 }, () => ask());
  expect(begun).toHaveLength(1);
  begun[0]?.resolve();
  await first;
  begun[1]?.resolve();
  await Promise.all(others);
  expect(begun).toHaveLength(2);
});

test("a failed run fails only for those who waited for it, and the next run takes place", async () => {
  const { begun, ask } = counted();
  const [first, second] = [ask(), ask()];
  begun[0]?.reject(new Error("away"));
  expect(await first.catch((error: Error) => error.message)).toBe("away");
  begun[1]?.resolve();
  expect(await second).toBeUndefined();
  const third = ask();
  expect(begun).toHaveLength(3);
  begun[2]?.resolve();
  await third;
});
