import { expect, test } from "bun:test";
import { MessageStream } from "./message-stream.ts";

const MEBIBYTE = new Uint8Array(1024 * 1024);

test("what nobody reads is given up, and keeps its writer waiting for nothing", async () => {
  let left = 0;
  const stream = new MessageStream(new AbortController().signal, () => left++);
  for (let i = 0; i < 100; i++) stream.push(MEBIBYTE);
  expect(left).toBe(1);
  await expect(stream.body.getReader().read()).rejects.toThrow("did not keep up");
});

test("what was written before the end is read to the end, by a reader that comes later", async () => {
  const stream = new MessageStream(new AbortController().signal, () => undefined);
  stream.push(MEBIBYTE);
  stream.push(MEBIBYTE);
  stream.end();
  stream.push(MEBIBYTE);
  expect((await new Response(stream.body).bytes()).byteLength).toBe(2 * MEBIBYTE.byteLength);
});

test("a reader that leaves is gone once", async () => {
  let left = 0;
  const stream = new MessageStream(new AbortController().signal, () => left++);
  await stream.body.cancel();
  stream.push(MEBIBYTE);
  stream.end();
  stream.fail(new Error("late"));
  expect(left).toBe(1);
});

test.each([true, false])("one that nobody waits for any more fails with the reason (before it was made: %p)", async (before) => {
  const abort = new AbortController();
  let left = 0;
  if (before) abort.abort(new Error("hung up"));
  const stream = new MessageStream(abort.signal, () => left++);
  expect(left).toBe(0);
  abort.abort(new Error("hung up"));
  await expect(stream.body.getReader().read()).rejects.toThrow("hung up");
  expect(left).toBe(1);
});
