import { describe, expect, test } from "bun:test";
import { cut } from "../openai/arbitrary-cuts.ts";
import { fixturesOf } from "../openai/fixture-files.ts";
import { readResponsesReply } from "./responses-reply.ts";
import { ResponsesStream } from "./responses-stream.ts";

const fixtures = fixturesOf(import.meta.url);
const SIZES = [1, 7, 64, 500, 100_000];

function run(wire: string, size: number) {
  const stream = new ResponsesStream();
  const decoder = new TextDecoder();
  let out = "";
  for (const piece of cut(wire, [size])) out += decoder.decode(stream.push(piece) ?? new Uint8Array(), { stream: true });
  const { complete, last } = stream.end();
  return { stream, out, complete, last: new TextDecoder().decode(last ?? new Uint8Array()) };
}

describe("a Responses stream passed through", () => {
  for (const name of ["full", "length", "refusal", "interleaved"]) {
    test(`${name}: every byte passes, and the last event is held back`, () => {
      const wire = fixtures.text(`stream-${name}.sse`);
      const end = wire.lastIndexOf("event: ");
      for (const size of SIZES) {
        const { stream, out, complete, last } = run(wire, size);
        expect(out).toBe(wire.slice(0, end));
        expect(last).toBe(wire.slice(end));
        expect(complete).toBe(true);
        expect(stream).toMatchObject({ begun: true, providerError: null });
      }
    });
  }

  test("has the usage of its last event, and about the length of its texts", () => {
    for (const size of SIZES) {
      const { stream } = run(fixtures.text("stream-full.sse"), size);
      expect(stream.usage).toEqual({
        inputUncached: 26,
        cacheRead: 1024,
        cacheWrite: 50,
        cacheWriteHour: 0,
        output: 60,
        reasoning: 40,
        serving: { tier: "standard", geo: null },
        estimated: false,
      });
      expect(stream.outputLength).toBeGreaterThanOrEqual(48);
      expect(stream.outputLength).toBeLessThan(70);
    }
  });

  test("has begun only with the first part of the answer", () => {
    const wire = fixtures.text("stream-full.sse");
    const stream = new ResponsesStream();
    const first = wire.indexOf("event: response.reasoning_summary_text.delta");
    stream.push(new TextEncoder().encode(wire.slice(0, first)));
    expect(stream.begun).toBe(false);
    stream.push(new TextEncoder().encode(wire.slice(first)));
    expect(stream.begun).toBe(true);
  });

  test("is incomplete if it stops before its last event", () => {
    const wire = fixtures.text("stream-full.sse");
    expect(run(wire.slice(0, wire.lastIndexOf("event: ")), 64)).toMatchObject({ complete: false, last: "" });
  });

  test("is incomplete if the provider failed, and the last event is still sent", () => {
    const { stream, complete, last } = run(fixtures.text("stream-failed.sse"), 64);
    expect(complete).toBe(false);
    expect(last).toContain("response.failed");
    expect(stream).toMatchObject({ providerError: "The model failed.", begun: false });
  });

  test("passes an error event and reports it", () => {
    const wire = fixtures.text("stream-error.sse");
    const { stream, out, complete } = run(wire, 100_000);
    expect([out, complete, stream.providerError, stream.begun]).toEqual([wire, false, "Too many.", false]);
  });

  test("with event names within a text is not taken as complete", () => {
    const wire = `event: response.output_text.delta\ndata: ${JSON.stringify({ type: "response.output_text.delta", delta: '"response":{"usage":{"input_tokens":1}} "error" event: response.completed' })}\n\n`;
    for (const size of SIZES) {
      const { stream, out, complete } = run(wire, size);
      expect([out, complete, stream.usage, stream.providerError]).toEqual([wire, false, null, null]);
    }
  });
});

test("a complete Responses answer has usage and length read", () => {
  expect(readResponsesReply(new TextEncoder().encode(fixtures.text("reply-full.json")))).toEqual({
    usage: {
      ...{ inputUncached: 26, cacheRead: 1024, cacheWrite: 50, cacheWriteHour: 0, output: 60, reasoning: 40, estimated: false },
      serving: { tier: "standard", geo: null },
    },
    fees: {},
    outputCharacters: "Two calls.".length + "Grüße 👋".length + 2 * '{"city":"Oslo"}'.length,
  });
  expect(readResponsesReply(new TextEncoder().encode("<html>"))).toBeNull();
});
