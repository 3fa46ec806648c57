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

describe("a streamed response on its way through", () => {
  for (const name of ["full", "length", "refusal", "interleaved"]) {
    test(`${name}: every byte passes, the event that ends it is kept for last`, () => {
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

  test("its usage is the one its end tells, its length about that of its texts", () => {
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

  test("it has not begun before something of the answer came", () => {
    const wire = fixtures.text("stream-full.sse");
    const stream = new ResponsesStream();
    const first = wire.indexOf("event: response.reasoning_summary_text.delta");
    stream.push(new TextEncoder().encode(wire.slice(0, first)));
    expect(stream.begun).toBe(false);
    stream.push(new TextEncoder().encode(wire.slice(first)));
    expect(stream.begun).toBe(true);
  });

  test("one that stops before its end is torn", () => {
    const wire = fixtures.text("stream-full.sse");
    expect(run(wire.slice(0, wire.lastIndexOf("event: ")), 64)).toMatchObject({ complete: false, last: "" });
  });

  test("one the provider let fail is not complete, and its last event still goes out", () => {
    const { stream, complete, last } = run(fixtures.text("stream-failed.sse"), 64);
    expect(complete).toBe(false);
    expect(last).toContain("response.failed");
    expect(stream).toMatchObject({ providerError: "The model failed.", begun: false });
  });

  test("an error event passes and is known", () => {
    const wire = fixtures.text("stream-error.sse");
    const { stream, out, complete } = run(wire, 100_000);
    expect([out, complete, stream.providerError, stream.begun]).toEqual([wire, false, "Too many.", false]);
  });

  test("a text that spells what governance looks for is still only a text", () => {
    const wire = `event: response.output_text.delta\ndata: ${JSON.stringify({ type: "response.output_text.delta", delta: '"response":{"usage":{"input_tokens":1}} "error" event: response.completed' })}\n\n`;
    for (const size of SIZES) {
      const { stream, out, complete } = run(wire, size);
      expect([out, complete, stream.usage, stream.providerError]).toEqual([wire, false, null, null]);
    }
  });
});

test("a whole response gives its usage and its length", () => {
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
