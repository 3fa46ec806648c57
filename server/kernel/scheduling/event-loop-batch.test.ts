import { expect, test } from "bun:test";
import { eventLoopBatch } from "./event-loop-batch.ts";

test("calls of one event loop turn continue together in the next turn, interleaved and in order", async () => {
  const place = eventLoopBatch();
  const steps: string[] = [];
  const call = async (name: string) => {
    await place();
    steps.push(`${name}1`);
    await Promise.resolve();
    steps.push(`${name}2`);
  };
  const early = [call("a"), call("b")];
  await Promise.resolve();
  expect(steps).toEqual([]);
  await Promise.all(early);
  await call("c");
  expect(steps).toEqual(["a1", "b1", "a2", "b2", "c1", "c2"]);
});
