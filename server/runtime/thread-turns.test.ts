import { expect, test } from "bun:test";
import { Worker } from "node:worker_threads";
import { ThreadTurns } from "./thread-turns.ts";

/** Echoes its jobs; it never answers "never", and throws on "fails". */
const ECHO = `
  const { parentPort } = require("node:worker_threads");
  parentPort.on("message", ({ id, job }) => {
    if (job === "fails") throw new Error("failed");
    if (job !== "never") parentPort.postMessage({ id, result: job });
  });`;

const turns = (longestMs: number) => new ThreadTurns<string, string>(() => new Worker(ECHO, { eval: true }), longestMs);

test("tenants take turns on the thread, however many jobs one of them has queued", async () => {
  const asked = turns(60_000);
  const order: string[] = [];
  const ask = async (tenantId: string, job: string) => order.push((await asked.ask(tenantId, job)) as string);
  const all = [ask("a", "a1"), ask("a", "a2"), ask("a", "a3"), ask("b", "b1")];
  expect(asked.waitingOf("a")).toEqual(["a2", "a3"]);
  await Promise.all(all);
  expect(order).toEqual(["a1", "a2", "b1", "a3"]);
});

test("a job that never ends, or crashes the thread, gives null and does not block later jobs", async () => {
  const asked = turns(2_000);
  expect(await Promise.all([asked.ask("a", "never"), asked.ask("a", "after it")])).toEqual([null, "after it"]);
  expect(await Promise.all([asked.ask("a", "fails"), asked.ask("b", "after that")])).toEqual([null, "after that"]);
});
