import { expect, test } from "bun:test";
import { MessageStream } from "./message-stream.ts";

const MEBIBYTE = new Uint8Array(1024 * 1024);

test("a stream that nobody reads is closed instead of blocking its writer", async () => {
  let left = 0;
  const stream = new MessageStream(new AbortController().signal, () => left++);
  for (let i = 0; i < 100; i++) stream.push(MEBIBYTE);
  expect(left).toBe(1);
  await expect(stream.body.getReader().read()).rejects.toThrow("did not keep up");
});

test("what was written before the end can be read later, and nothing after it", async () => {
  const stream = new MessageStream(new AbortController().signal, () => undefined);
  stream.push(MEBIBYTE);
  stream.push(MEBIBYTE);
  stream.end();
  stream.push(MEBIBYTE);
  expect((await new Response(stream.body).bytes()).byteLength).toBe(2 * MEBIBYTE.byteLength);
});

test("a reader that cancels is reported once", async () => {
  let left = 0;
  const stream = new MessageStream(new AbortController().signal, () => left++);
  await stream.body.cancel();
  stream.push(MEBIBYTE);
  stream.end();
  stream.fail(new Error("late"));
  expect(left).toBe(1);
});

test.each([true, false])("a stream whose request was aborted fails with the reason (aborted before its creation: %p)", async (before) => {
  const abort = new AbortController();
  let left = 0;
  if (before) abort.abort(new Error("hung up"));
  const stream = new MessageStream(abort.signal, () => left++);
  expect(left).toBe(0);
  abort.abort(new Error("hung up"));
  await expect(stream.body.getReader().read()).rejects.toThrow("hung up");
  expect(left).toBe(1);
});
