import { expect, test } from "bun:test";
import { type Refusal, refuse } from "../kernel/errors.ts";
import type { Call } from "./call.ts";
import { type StreamEnd, streamOut } from "./stream-out.ts";
import type { StreamAnswer } from "./surface.ts";

const call = { abort: new AbortController() } as Call;
const bytes = new TextEncoder().encode("a held tool call");

/** An upstream that gives `pieces` and then breaks its connection off. */
function breakingOff(pieces: readonly Uint8Array[]): StreamAnswer["upstream"] {
  const left = [...pieces];
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = left.shift();
      if (piece === undefined) controller.error(new Error("connection reset"));
      else controller.enqueue(piece);
    },
  }).getReader();
}

/** What the caller is told and how the stream ended, when an output control comes to `refusal` of what it was shown. */
async function endingOf(refusal: Refusal | null): Promise<{ sent: number; end: StreamEnd | undefined }> {
  let seen = false;
  const codec: StreamAnswer["codec"] = { push: () => ((seen = true), null), end: () => ({ complete: false, last: null, told: false }), begun: true, usage: null, outputLength: 0, providerError: null };
  const answer: StreamAnswer = { kind: "stream", status: 200, headers: {}, upstream: breakingOff([bytes]), codec, head: [], inputCharacters: 0, refusal: (ended) => (ended && seen ? refusal : null) };
  let end: StreamEnd | undefined;
  let sent = 0;
  const stream = streamOut(call, answer, { idleMs: 60_000, sent: (piece) => void (sent += piece.byteLength), end: async (how) => ((end = how), null) });
  for await (const piece of stream) sent += piece.byteLength;
  return { sent, end };
}

test("a denial stays one when the upstream breaks off behind it", async () => {
  const { sent, end } = await endingOf(refuse("argument_policy_denied"));
  expect([sent, end?.failure?.code]).toEqual([0, "argument_policy_denied"]);
});

test("an upstream that breaks off with nothing denied is told as that", async () => {
  const { end } = await endingOf(null);
  expect(end?.failure).toMatchObject({ code: "upstream_interrupted", reason: "connection reset" });
});
