import { expect, test } from "bun:test";
import { AdmissionQueues } from "./admission-queues.ts";

const never = new AbortController().signal;

test("only the first of a line is woken, and the next when it leaves", async () => {
  const lines = new AdmissionQueues(null);
  const [first, second] = [lines.join("k"), lines.join("k")];
  const woken: string[] = [];
  const turns = [
    lines.wait(first, never, 10_000).then((why) => woken.push(`first ${why}`)),
    lines.wait(second, never, 10_000).then((why) => woken.push(`second ${why}`)),
  ];
  lines.released("other");
  lines.released("k");
  await turns[0];
  expect(woken).toEqual(["first turn"]);
  lines.leave(first);
  await turns[1];
  expect(woken).toEqual(["first turn", "second turn"]);
  expect(lines.has("k")).toBe(true);
  lines.leave(second);
  expect([lines.has("k"), lines.empty]).toEqual([false, true]);
});

test("a caller who hangs up, or has waited long enough, is gone", async () => {
  const lines = new AdmissionQueues(null);
  const [hangsUp, waits] = [lines.join("k"), lines.join("k")];
  const abort = new AbortController();
  const turn = lines.wait(hangsUp, abort.signal, 10_000);
  abort.abort();
  expect(await turn).toBe("gone");
  lines.leave(hangsUp);
  expect(await lines.wait(waits, never, 1)).toBe("gone");
  lines.leave(waits);
  expect(lines.empty).toBe(true);
});

test("where releases may go unheard the first looks again by itself", async () => {
  const lines = new AdmissionQueues(1);
  const first = lines.join("k");
  for (let i = 0; i < 3; i++) expect(await lines.wait(first, never, 10_000)).toBe("turn");
  lines.leave(first);
});
