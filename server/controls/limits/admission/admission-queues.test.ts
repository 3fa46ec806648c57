import { expect, test } from "bun:test";
import { AdmissionQueues } from "./admission-queues.ts";

const never = new AbortController().signal;

test("only the first in a queue is woken, and the next one when it leaves", async () => {
  const queues = new AdmissionQueues(null);
  const [first, second] = [queues.join("k"), queues.join("k")];
  const woken: string[] = [];
  const turns = [
    queues.wait(first, never, 10_000).then((why) => woken.push(`first ${why}`)),
    queues.wait(second, never, 10_000).then((why) => woken.push(`second ${why}`)),
  ];
  queues.released("other");
  queues.released("k");
  await turns[0];
  expect(woken).toEqual(["first turn"]);
  queues.leave(first);
  await turns[1];
  expect(woken).toEqual(["first turn", "second turn"]);
  expect(queues.has("k")).toBe(true);
  queues.leave(second);
  expect([queues.has("k"), queues.empty]).toEqual([false, true]);
});

test("a caller that disconnects or has waited too long leaves the queue", async () => {
  const queues = new AdmissionQueues(null);
  const [hangsUp, waits] = [queues.join("k"), queues.join("k")];
  const abort = new AbortController();
  const turn = queues.wait(hangsUp, abort.signal, 10_000);
  abort.abort();
  expect(await turn).toBe("gone");
  queues.leave(hangsUp);
  expect(await queues.wait(waits, never, 1)).toBe("gone");
  queues.leave(waits);
  expect(queues.empty).toBe(true);
});

test("where releases may be missed, the first in the queue checks again by itself", async () => {
  const queues = new AdmissionQueues(1);
  const first = queues.join("k");
  for (let i = 0; i < 3; i++) expect(await queues.wait(first, never, 10_000)).toBe("turn");
  queues.leave(first);
});
