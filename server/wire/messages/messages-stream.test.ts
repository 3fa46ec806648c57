import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { MessagesStream } from "./messages-stream.ts";

const encoder = new TextEncoder();
const fixture = (name: string): string => readFileSync(new URL(`fixtures/stream-${name}.sse`, import.meta.url), "utf8");

function run(text: string, size: number, stream = new MessagesStream()) {
  const bytes = encoder.encode(text);
  const decoder = new TextDecoder();
  let out = "";
  let begunAt: string | null = null;
  for (let at = 0; at < bytes.length; at += size) {
    const piece = stream.push(bytes.subarray(at, at + size));
    if (piece !== null) out += decoder.decode(piece, { stream: true });
    if (stream.begun) begunAt ??= out;
  }
  const { complete, last } = stream.end();
  return { out, complete, last: last === null ? null : new TextDecoder().decode(last), begunAt, stream };
}
const STOP = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';

describe("a Messages stream passed through", () => {
  for (const size of [1, 7, 64, 100_000]) {
    test(`in pieces of ${size} bytes: every byte passes, and the last event is held back`, () => {
      for (const name of ["text", "tools", "reasoning", "refusal", "cache"]) {
        const text = fixture(name);
        const { out, complete, last } = run(text, size);
        expect(out + last).toBe(text);
        expect({ complete, last }).toEqual({ complete: true, last: STOP });
      }
    });
  }

  test("counts the output of plain frames pushed one by one", () => {
    const stream = new MessagesStream();
    for (const frame of fixture("tools").split("\n\n").slice(0, -1)) stream.push(encoder.encode(`${frame}\n\n`));
    expect(stream.outputLength).toBeGreaterThanOrEqual(40);
    expect(stream.usage).toMatchObject({ inputUncached: 80, output: 61 });
    expect(stream.end()).toMatchObject({ complete: true });
  });

  test("has the last total of each usage count", () => {
    expect(run(fixture("cache"), 50).stream.usage).toEqual({
      inputUncached: 3,
      cacheRead: 2000,
      cacheWrite: 100,
      cacheWriteHour: 400,
      output: 2,
      reasoning: 0,
      estimated: false,
    });
  });

  test("has its output estimated if it was interrupted", () => {
    const start = 'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":80,"output_tokens":1}}}\n\n';
    const delta = `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"${"word ".repeat(80)}"}}\n\n`;
    const end = 'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":90}}\n\n';
    const usage = (text: string) => run(text, 1_000).stream.usage;
    expect(usage(start)).toMatchObject({ inputUncached: 80, output: 1, estimated: false });
    expect(usage(start + delta)).toMatchObject({ inputUncached: 80, output: 101, estimated: true });
    expect(usage(start + delta + end)).toMatchObject({ inputUncached: 80, output: 90, estimated: false });
  });

  test("has begun with its first text, tool call or stop, not with its first event", () => {
    const begun = (name: string, frames: number) => {
      const stream = new MessagesStream();
      for (const frame of fixture(name).split("\n\n").slice(0, frames)) stream.push(encoder.encode(`${frame}\n\n`));
      return stream.begun;
    };
    expect([begun("text", 3), begun("text", 4)]).toEqual([false, true]);
    expect([begun("refusal", 1), begun("refusal", 2)]).toEqual([false, true]);
    const call = fixture("tools")
      .split("\n\n")
      .filter((frame) => frame.includes("message_start") || frame.includes("toolu_01"));
    const stream = new MessagesStream();
    stream.push(encoder.encode(`${call.join("\n\n")}\n\n`));
    expect(stream.begun).toBe(true);
  });

  test("is incomplete if it was interrupted or contains an error", () => {
    expect(run(fixture("text").slice(0, 900), 11)).toMatchObject({ complete: false, last: null });
    const failed = run(fixture("overloaded"), 30);
    expect(failed).toMatchObject({ out: fixture("overloaded"), complete: false, last: null });
    expect(failed.stream).toMatchObject({ providerError: "Overloaded", begun: false });
  });

  test("is complete if only the closing event is missing", () => {
    expect(run(fixture("text").replace(STOP, ""), 40)).toMatchObject({ complete: true, last: null });
  });

  test("with event names within a text is not taken as complete", () => {
    const words = `event: content_block_delta\ndata: ${JSON.stringify({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: '"type":"message_stop" "usage":{"output_tokens":1} "error"\n\n' } })}\n\n`;
    const result = run(words + words, words.length);
    expect(result).toMatchObject({ out: words + words, complete: false, last: null });
    expect(result.stream).toMatchObject({ usage: null, providerError: null });
  });

  test("passes invalid JSON unchanged", () => {
    expect(run("data: {oops\n\n: comment\n\n", 5).out).toBe("data: {oops\n\n: comment\n\n");
  });
});

test.each([
  ["text_delta", "text"],
  ["thinking_delta", "thinking"],
  ["input_json_delta", "partial_json"],
])("output in %s events is counted equally if the JSON is written with spaces", (type, member) => {
  const delta = { type: "content_block_delta", index: 0, delta: { type, [member]: "x".repeat(40) } };
  const spaced = JSON.stringify(delta).replaceAll(":", ": ").replaceAll(",", ", ");
  for (const json of [JSON.stringify(delta), spaced]) {
    const frame = `event: content_block_delta\ndata: ${json}\n\n`;
    const { out, stream } = run(frame.repeat(100), frame.length);
    expect(out).toBe(frame.repeat(100));
    expect(stream.outputLength).toBe(4_000);
  }
});
