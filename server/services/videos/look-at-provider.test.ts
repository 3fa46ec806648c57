import { expect, test } from "bun:test";
import { videoBytes } from "./read-provider-job.ts";

test("a video download that trickles for too long is aborted", async () => {
  let isOver = false;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ signal }) => {
      signal.addEventListener("abort", () => (isOver = true));
      return new Response(
        new ReadableStream({
          async pull(controller) {
            await Bun.sleep(5);
            if (!isOver) controller.enqueue(new Uint8Array(1));
          },
        }),
      );
    },
  });
  try {
    const ask = (_question: unknown, abort: AbortController) => fetch(server.url, { signal: abort.signal });
    const limits = { silentMs: 3_600_000, wholeMs: 500 };
    const pieces = videoBytes({ ask }, { kind: "ask", ask: { method: "GET", path: "/" } }, limits);
    const fetched = Array.fromAsync(pieces).catch((error: unknown) => String(error));
    expect(await fetched).toContain("upstream_timeout");
  } finally {
    await server.stop(true);
  }
});
