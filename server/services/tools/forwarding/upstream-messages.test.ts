import { expect, test } from "bun:test";
import { FrameTooLarge } from "../../../wire/streams/stream-bounds.ts";
import { messagesToAnswer } from "./upstream-messages.ts";

const events = (...pieces: string[]) =>
  new Response(
    new ReadableStream({
      start: (controller) => (pieces.forEach((piece) => controller.enqueue(new TextEncoder().encode(piece))), controller.close()),
    }),
    { headers: { "content-type": "text/event-stream" } },
  );

test("a stream with an oversized event is not resumed", async () => {
  let asked = 0;
  const readOn = async () => {
    asked++;
    return null;
  };
  const messages = messagesToAnswer(
    events("id: a\nretry: 10\ndata:\n\n", `data: ${"x".repeat(17 * 1024 * 1024)}`),
    1,
    readOn,
    new AbortController().signal,
  );
  await expect(messages.next()).rejects.toBeInstanceOf(FrameTooLarge);
  expect(asked).toBe(0);
});

test("a stream is resumed from where it ended until nobody waits for it", async () => {
  const again = () =>
    events('id: a\nretry: 0\ndata: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}\n\n');
  let asked = 0;
  const over = new AbortController();
  const readOn = async () => {
    if (++asked === 3) over.abort();
    return again();
  };
  let received = 0;
  for await (const message of messagesToAnswer(again(), 1, readOn, over.signal))
    if (message.value.method === "notifications/progress") received++;
  expect([asked, received]).toEqual([3, 4]);
});
