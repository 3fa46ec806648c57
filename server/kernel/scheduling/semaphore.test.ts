import { expect, test } from "bun:test";
import { semaphore } from "./semaphore.ts";

const LIMITS = { most: 3, mostOfOne: 2, waitMs: 60_000 };

/** Whether the permit has been granted by now. */
async function given(place: Promise<unknown>): Promise<boolean> {
  return (await Promise.race([place, Promise.resolve("none yet")])) !== "none yet";
}

test("the semaphore bounds permits for each key and for all keys together", async () => {
  const enter = semaphore(LIMITS);
  const leave = await enter("slow");
  await enter("slow");
  const third = enter("slow");
  expect(await given(third)).toBe(false);
  const leaveOther = await enter("other");
  expect(leaveOther).not.toBeNull();
  const late = enter("late");
  expect(await given(late)).toBe(false);
  leaveOther?.();
  expect(await late).not.toBeNull();
  expect(await given(third)).toBe(false);
  leave?.();
  expect(await third).not.toBeNull();
});

test("a permit not granted in time is null, and does not use up a place", async () => {
  const enter = semaphore({ ...LIMITS, most: 1, waitMs: 1 });
  const leave = await enter("a");
  expect(await enter("b")).toBeNull();
  leave?.();
  expect(await enter("c")).not.toBeNull();
});

test("a permit for several keys needs room under each of them", async () => {
  const enter = semaphore({ ...LIMITS, most: 9, mostOfOne: [3, 1] });
  await enter("acme", "acme slow");
  const second = enter("acme", "acme slow");
  expect(await given(second)).toBe(false);
  await enter("acme", "acme other");
  const leave = await enter("acme", "acme third");
  const fourth = enter("acme", "acme fourth");
  expect(await given(fourth)).toBe(false);
  expect(await enter("other", "other slow")).not.toBeNull();
  leave?.();
  expect(await fourth).not.toBeNull();
});
