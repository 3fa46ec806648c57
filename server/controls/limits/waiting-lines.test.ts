import { expect, test } from "bun:test";
import { WaitingLines } from "./waiting-lines.ts";

const never = new AbortController().signal;

test("only the first of a line is woken, and the next when it leaves", async () => {
  const lines = new WaitingLines(null);
  const [first, second] = [lines.join("k"), lines.join("k")];
  const woken: string[] = [];
  const turns = [
    lines.turn(first, never, 10_000).then((why) => woken.push(`first ${why}`)),
    lines.turn(second, never, 10_000).then((why) => woken.push(`second ${why}`)),
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
  const lines = new WaitingLines(null);
  const [hangsUp, waits] = [lines.join("k"), lines.join("k")];
  const abort = new AbortController();
  const turn = lines.turn(hangsUp, abort.signal, 10_000);
  abort.abort();
  expect(await turn).toBe("gone");
  lines.leave(hangsUp);
  expect(await lines.turn(waits, never, 1)).toBe("gone");
  lines.leave(waits);
  expect(lines.empty).toBe(true);
});

test("where releases may go unheard the first looks again by itself", async () => {
  const lines = new WaitingLines(1);
  const first = lines.join("k");
  for (let i = 0; i < 3; i++) expect(await lines.turn(first, never, 10_000)).toBe("turn");
  lines.leave(first);
});
