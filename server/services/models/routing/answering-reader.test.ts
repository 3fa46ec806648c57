import { expect, test } from "bun:test";
import { answeringReader } from "./answering-reader.ts";

/** Reads pieces that arrive ten milliseconds apart, of which at most 25 may be silent. */
async function reading(pieces: readonly string[]) {
  let at = 0;
  let late = 0;
  let cancelled = false;
  const left = pieces.map((piece) => new TextEncoder().encode(piece));
  const upstream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        at += 10;
        const piece = left.shift();
        if (piece === undefined) controller.close();
        else controller.enqueue(piece);
      },
      cancel: () => void (cancelled = true),
    },
    { highWaterMark: 0 },
  );
  const reader = answeringReader(
    upstream.getReader(),
    25,
    () => (late += 1),
    () => at,
  );
  let read = 0;
  try {
    while (!(await reader.read()).done) read += 1;
  } catch {
    return { read, late, cancelled };
  }
  return { read, late, cancelled };
}

const PING = 'event: ping\ndata: {"type":"ping"}\n\n';
const DATA = "data: 1\n\n";

test("keep-alives are waited for only as long as silence", async () => {
  expect(await reading([PING, ": x\n\n", PING, DATA])).toEqual({ read: 2, late: 1, cancelled: true });
  expect(await reading([PING, PING, DATA, PING, PING, DATA])).toEqual({ read: 6, late: 0, cancelled: false });
});
