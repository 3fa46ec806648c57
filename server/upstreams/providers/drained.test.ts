import { expect, test } from "bun:test";
import { drained } from "./provider-batches.ts";

test("an answer that nobody reads is not read without end", async () => {
  const piece = new Uint8Array(256 * 1024);
  let pulled = 0;
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        pulled += 1;
        controller.enqueue(piece);
      },
      cancel: () => void (cancelled = true),
    },
    { highWaterMark: 0 },
  );
  await drained(new Response(body));
  expect([pulled < 10, cancelled]).toEqual([true, true]);
});
