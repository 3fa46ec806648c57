import { describe, expect, test } from "bun:test";
import { chatCodec } from "./codec.ts";
import { ChatStream } from "./stream.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const frame = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const chunk = (delta: unknown, finish_reason: string | null = null) => ({
  id: "c",
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta, finish_reason }],
});
const USAGE = {
  id: "c",
  object: "chat.completion.chunk",
  choices: [],
  usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11, prompt_tokens_details: { cached_tokens: 4 } },
};
const FRAMES = [
  frame(chunk({ role: "assistant", content: "" })),
  ": a comment\n\n",
  frame(chunk({ content: "Grüße" })),
  frame(chunk({}, "stop")),
  frame(USAGE),
];
const DONE = "data: [DONE]\n\n";

function run(stream: ChatStream, text: string, size: number) {
  const bytes = encoder.encode(text);
  let out = "";
  const sent = new TextDecoder();
  for (let at = 0; at < bytes.length; at += size) {
    const piece = stream.push(bytes.subarray(at, at + size));
    if (piece !== null) out += sent.decode(piece, { stream: true });
  }
  return { out, ...stream.end() };
}

describe("a chat stream passed through", () => {
  for (const size of [1, 3, 7, 64, 100_000]) {
    test(`in pieces of ${size} bytes: drops the unrequested usage chunk, passes all else, and holds the end back`, () => {
      const stream = new ChatStream({ hideUsage: true });
      const { out, complete, last } = run(stream, FRAMES.join("") + DONE, size);
      expect(out).toBe(FRAMES.slice(0, 4).join(""));
      expect(complete).toBe(true);
      expect(decoder.decode(last ?? new Uint8Array())).toBe(DONE);
      expect(stream.usage).toEqual({
        inputUncached: 5,
        cacheRead: 4,
        cacheWrite: 0,
        cacheWriteHour: 0,
        output: 2,
        reasoning: 0,
        estimated: false,
      });
    });
  }

  test("passes the usage chunk if the caller requested it", () => {
    expect(run(new ChatStream({ hideUsage: false }), FRAMES.join("") + DONE, 11).out).toBe(FRAMES.join(""));
  });

  test("is incomplete with an empty finish reason", () => {
    const begun = [frame(chunk({ content: "Well" }, "")), frame(chunk({ content: " done" }, ""))];
    expect(run(new ChatStream({ hideUsage: true }), begun.join(""), 11).complete).toBe(false);
    expect(run(new ChatStream({ hideUsage: true }), begun.join("") + frame(chunk({}, "stop")), 11).complete).toBe(true);
    const reader = chatCodec.streamReader();
    const events = [...reader.push(encoder.encode(begun.join(""))), ...reader.end().events];
    expect(events.flatMap((event) => (event.kind === "delta" ? event.text : []))).toEqual(["Well", " done"]);
  });

  test.each([
    ["audio", { content: null, audio: { id: "audio_1", data: "AAAA" } }],
    ["an audio transcript", { content: null, audio: { id: "audio_1", transcript: "Hello" } }],
    ["an image", { content: "", images: [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }] }],
  ])("has begun with %s, although it is no text", (_what, delta) => {
    const stream = new ChatStream({ hideUsage: true });
    stream.push(encoder.encode(frame(chunk({ role: "assistant", content: null, images: [], audio: { id: "audio_1" } }))));
    expect(stream.begun).toBe(false);
    stream.push(encoder.encode(frame(chunk(delta))));
    expect(stream).toMatchObject({ begun: true, outputLength: 0 });
  });

  test("is incomplete if it ends before the finish reason", () => {
    const stream = new ChatStream({ hideUsage: true });
    expect(run(stream, FRAMES.slice(0, 3).join(""), 5).complete).toBe(false);
    expect(stream.outputLength).toBeGreaterThanOrEqual(5);
    expect(stream.usage).toBeNull();
  });

  test("is incomplete if it ends within an event, and the partial event is not sent", () => {
    const whole = FRAMES.slice(0, 3).join("");
    for (const half of ['data: {"id":"c","choi', "data: [DON", "<html>Bad gateway</html>", "null"]) {
      expect(run(new ChatStream({ hideUsage: true }), whole + half, 9)).toEqual({
        out: whole,
        complete: false,
        last: null,
        errorReported: false,
      });
    }
    expect(run(new ChatStream({ hideUsage: true }), `${whole}${frame(chunk({}, "stop"))}data: {"id":"c","us`, 9)).toMatchObject({
      complete: true,
      last: null,
    });
  });

  test("is complete without the blank line after the last event", () => {
    const { complete, last } = run(new ChatStream({ hideUsage: true }), FRAMES.slice(0, 4).join("") + DONE.trimEnd(), 9);
    expect([complete, decoder.decode(last ?? new Uint8Array())]).toEqual([true, "data: [DONE]"]);
  });

  test("is incomplete after an error, even with a closing event", () => {
    const failed = frame({ error: { message: "overloaded" } });
    expect(run(new ChatStream({ hideUsage: true }), FRAMES.slice(0, 3).join("") + failed + DONE, 9).complete).toBe(false);
  });

  test("is complete if only the closing event is missing", () => {
    expect(run(new ChatStream({ hideUsage: true }), FRAMES.join(""), 9).complete).toBe(true);
  });

  test("with several choices is complete when each has ended, in any order", () => {
    const of = (index: number, finish_reason: string | null) =>
      frame({ id: "c", object: "chat.completion.chunk", choices: [{ index, delta: { content: "x" }, finish_reason }] });
    const both = new ChatStream({ hideUsage: true, choices: 2 });
    expect(run(both, of(0, null) + of(1, null) + of(1, "stop") + of(1, "stop"), 9).complete).toBe(false);
    expect(run(new ChatStream({ hideUsage: true, choices: 2 }), of(0, null) + of(1, "stop") + of(0, "length"), 9).complete).toBe(true);
    // The provider's explicit end is valid, even with fewer choices than requested.
    expect(run(new ChatStream({ hideUsage: true, choices: 2 }), of(0, "stop") + DONE, 9).complete).toBe(true);
  });

  test("with member names within a text is not taken as complete", () => {
    const text = frame(chunk({ content: '"finish_reason":"stop" "usage":{"prompt_tokens":1} \\" [DONE] "error"' }));
    const stream = new ChatStream({ hideUsage: true });
    expect(run(stream, text, 1000)).toMatchObject({ out: text, complete: false });
    expect(stream).toMatchObject({ usage: null, providerError: null });
    expect(stream.outputLength).toBeGreaterThan(0);
  });

  test("passes an empty-choices chunk without usage", () => {
    const first = frame({ id: "", choices: [], prompt_filter_results: [] });
    expect(run(new ChatStream({ hideUsage: true }), first + DONE, 50).out).toBe(first);
  });

  test("passes invalid JSON unchanged", () => {
    expect(run(new ChatStream({ hideUsage: true }), `data: {oops\n\n${DONE}`, 50).out).toBe("data: {oops\n\n");
  });

  test("passes an error and reports it", () => {
    const stream = new ChatStream({ hideUsage: true });
    const text = frame({ error: { message: "overloaded", type: "server_error" } });
    expect(run(stream, text, 50)).toMatchObject({ out: text, complete: false });
    expect(stream.providerError).toBe("overloaded");
  });

  test("has begun with the first text, reasoning, refusal or tool call, not with the role", () => {
    const after = (...deltas: unknown[]) => {
      const stream = new ChatStream({ hideUsage: true });
      for (const delta of deltas) stream.push(encoder.encode(frame(chunk(delta))));
      return { begun: stream.begun, length: stream.outputLength };
    };
    const role = { role: "assistant", content: "", refusal: null };
    expect(after(role)).toEqual({ begun: false, length: 0 });
    expect(after(role, { content: "ab" })).toEqual({ begun: true, length: 2 });
    expect(after(role, { reasoning_content: "abc" })).toEqual({ begun: true, length: 3 });
    expect(after(role, { content: [{ type: "thinking", thinking: [{ type: "text", text: "abcd" }] }] })).toEqual({
      begun: true,
      length: 4,
    });
    expect(after(role, { tool_calls: [{ index: 0, id: "a", function: { name: "f", arguments: "" } }] })).toEqual({
      begun: true,
      length: 1,
    });
    expect(after(role, { content: null, refusal: "no" })).toEqual({ begun: true, length: 2 });
  });

  test("is read equally with spaces between members", () => {
    const stream = new ChatStream({ hideUsage: true });
    stream.push(encoder.encode('data: {"choices": [{"index": 0, "delta": {"content": "abc"}, "finish_reason": null}]}\n\n'));
    expect([stream.begun, stream.outputLength]).toEqual([true, 3]);
  });

  test("has Groq's usage read from x_groq", () => {
    const stream = new ChatStream({ hideUsage: true });
    stream.push(encoder.encode(frame({ ...chunk({}, "stop"), x_groq: { usage: { prompt_tokens: 3, completion_tokens: 2 } } })));
    expect(stream.usage).toMatchObject({ inputUncached: 3, output: 2 });
  });
});
