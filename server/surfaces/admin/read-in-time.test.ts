import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "bun:test";
import { readInTime } from "./read-in-time.ts";

const PACE = { patienceMs: 40, bytesPerSecond: 1_000 };

function exported(count: number) {
  const ended = Promise.withResolvers<void>();
  async function* pieces(): AsyncGenerator<string> {
    try {
      for (let i = 0; i < count; i++) yield "x";
    } finally {
      ended.resolve();
    }
  }
  return { pieces: pieces(), ended: ended.promise };
}

test("an export's source is released while its reader stalls, and the reader gets an error when it continues", async () => {
  const { pieces, ended } = exported(1_000_000);
  const read = readInTime(pieces, PACE);
  expect(await read.next()).toEqual({ done: false, value: "x" });
  await ended;
  await expect(read.next()).rejects.toThrow("too little");
  expect(await read.next()).toEqual({ done: true, value: undefined });
});

test("a reader that takes a byte now and then is stopped as too slow", async () => {
  const { pieces, ended } = exported(1_000_000);
  const trickle = async () => {
    for await (const _ of readInTime(pieces, PACE)) await delay(10);
  };
  await expect(trickle()).rejects.toThrow("too little");
  await ended;
});

test("a steady reader gets the whole export, and one that leaves releases its source", async () => {
  const whole = exported(10_000);
  expect((await Array.fromAsync(readInTime(whole.pieces))).length).toBe(10_000);
  await whole.ended;
  const left = exported(10_000);
  const read = readInTime(left.pieces);
  await read.next();
  await read.return(undefined);
  await left.ended;
});
