import { GeminiArrayReader } from "./array-reader.ts";
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import type { StreamCodec } from "../streams/stream.ts";
import { readGeminiReply } from "./gemini-reply.ts";
import { GeminiArrayStream, GeminiStream } from "./gemini-stream.ts";

const fixture = (name: string) => readFileSync(new URL(`fixtures/${name}`, import.meta.url));
const STREAMS = ["text", "cache", "tools", "reasoning", "structured", "blocked", "filtered", "length", "candidates"];

function cut(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const places = [0, ...new Set(cuts.map((at) => at % (bytes.length + 1)))].sort((a, b) => a - b);
  return places.map((from, i) => bytes.subarray(from, places[i + 1] ?? bytes.length));
}

function pass(codec: StreamCodec, pieces: readonly Uint8Array[]): { passed: string; last: string; complete: boolean } {
  const out: Uint8Array[] = [];
  for (const piece of pieces) {
    const now = codec.push(piece);
    if (now !== null) out.push(now);
  }
  const { complete, last } = codec.end();
  return { passed: Buffer.concat(out).toString(), last: Buffer.from(last ?? []).toString(), complete };
}

const cuts = fc.array(fc.nat(4000), { maxLength: 8 });

describe("a Gemini stream of server-sent events", () => {
  test.each(STREAMS)("%s: is passed on byte for byte however it is cut, with the last frame held back", (name) => {
    const bytes = fixture(`stream-${name}.sse`);
    fc.assert(
      fc.property(cuts, (at) => {
        const codec = new GeminiStream();
        const { passed, last, complete } = pass(codec, cut(bytes, at));
        expect(passed + last).toBe(bytes.toString());
        expect(complete).toBe(true);
        expect(last).toMatch(/finishReason|blockReason/);
        expect(last.match(/^data: /gm)).toHaveLength(1);
        expect(codec).toMatchObject({ begun: true, providerError: null });
        expect(codec.usage).toEqual(readGeminiReply(fixture(`reply-${name}.json`))?.usage ?? null);
      }),
      { numRuns: 40 },
    );
  });

  test("passes plain text on at once and counts it", () => {
    const [first = ""] = fixture("stream-text.sse").toString().split("\r\n\r\n");
    const piece = Buffer.from(`${first}\r\n\r\n`);
    const codec = new GeminiStream();
    expect(codec.begun).toBe(false);
    expect(codec.push(piece)).toBe(piece);
    expect(codec).toMatchObject({ begun: true, outputLength: "AI learns ".length });
    expect(codec.usage).toMatchObject({ inputUncached: 8, output: 0 });
  });

  test.each([
    ["audio", { inlineData: { mimeType: "audio/L16;rate=24000", data: "AAAA" } }],
    ["an image", { inline_data: { mime_type: "image/png", data: "AAAA" } }],
  ])("has begun with %s, although it is no text", (_what, part) => {
    const said = { candidates: [{ content: { role: "model", parts: [part] } }] };
    for (const [codec, piece] of [
      [new GeminiStream(), `data: ${JSON.stringify(said)}\r\n\r\n`],
      [new GeminiArrayStream(), `[${JSON.stringify(said)},`],
    ] as const) {
      codec.push(Buffer.from(piece));
      expect(codec).toMatchObject({ begun: true, outputLength: 0 });
    }
  });

  test("that is interrupted has the last usage reported", () => {
    const frames = fixture("stream-text.sse")
      .toString()
      .split(/(?<=\r\n\r\n)/);
    const codec = new GeminiStream();
    const { complete, last } = pass(
      codec,
      frames.slice(0, 2).map((frame) => Buffer.from(frame)),
    );
    expect({ complete, last }).toEqual({ complete: false, last: "" });
    expect(codec.usage).toMatchObject({ inputUncached: 8, output: 3, estimated: false });
  });

  test("with a member's name within a text is not complete", () => {
    const codec = new GeminiStream();
    const piece = Buffer.from(
      `data: ${JSON.stringify({ candidates: [{ content: { parts: [{ text: 'say "finishReason" and "error"' }] } }] })}\n\n`,
    );
    expect(codec.push(piece)).toBe(piece);
    expect(codec.end().complete).toBe(false);
  });

  test("with an error, as an event or as bare JSON, has failed", () => {
    const framed = new GeminiStream();
    expect(pass(framed, [fixture("stream-error.sse")]).complete).toBe(false);
    expect(framed.providerError).toBe("The model is overloaded.");
    const alone = new GeminiStream();
    pass(alone, [Buffer.from('[{"error": {"code": 503,\n "message": "Busy.",\n "status": "UNAVAILABLE"}}\n]')]);
    expect(alone).toMatchObject({ providerError: "Busy.", begun: false });
  });

  test("with a frame after the finish reason holds that one back", () => {
    const codec = new GeminiStream();
    const frames = [
      'data: {"candidates":[{"finishReason":"STOP"}]}\n\n',
      'data: {"usageMetadata":{"promptTokenCount":3,"totalTokenCount":3}}\n\n',
    ];
    expect(codec.push(Buffer.from(frames[0]!))).toBeNull();
    expect(Buffer.from(codec.push(Buffer.from(frames[1]!))!).toString()).toBe(frames[0]!);
    expect(Buffer.from(codec.end().last!).toString()).toBe(frames[1]!);
    expect(codec.usage?.inputUncached).toBe(3);
  });
});

describe("a Gemini stream as one JSON array", () => {
  test("is passed on byte for byte however it is cut, with the last element held back", () => {
    const bytes = fixture("stream-tools.json");
    fc.assert(
      fc.property(cuts, (at) => {
        const codec = new GeminiArrayStream();
        const { passed, last, complete } = pass(codec, cut(bytes, at));
        expect(passed + last).toBe(bytes.toString());
        expect(complete).toBe(true);
        expect(last).toContain('"finishReason": "STOP"');
        expect(last.trimEnd().endsWith("]")).toBe(true);
        expect(codec).toMatchObject({ begun: true, usage: { inputUncached: 8, output: 5 } });
      }),
      { numRuns: 60 },
    );
  });

  test("without its closing bracket is incomplete, because no client can read it", () => {
    const element = '[{"candidates":[{"finishReason":"STOP"}]}';
    for (const rest of ["", ",\r\n", ',\n{"usageMeta'])
      expect(pass(new GeminiArrayStream(), [Buffer.from(element + rest)]).complete).toBe(false);
    expect(pass(new GeminiArrayStream(), [Buffer.from(`${element}\n]`)])).toMatchObject({ complete: true, last: `${element}\n]` });
  });

  test("passes elements on as soon as they are complete", () => {
    const codec = new GeminiArrayStream();
    expect(codec.push(Buffer.from('[{"candidates":[{"content":{"parts":[{"text":"}]{'))).toBeNull();
    expect(Buffer.from(codec.push(Buffer.from('\\""}]}}]}\n,'))!).toString()).toBe(
      '[{"candidates":[{"content":{"parts":[{"text":"}]{\\""}]}}]}',
    );
    expect(codec).toMatchObject({ begun: true, outputLength: 4 });
    expect(codec.end().complete).toBe(false);
  });

  test("with an error, as an element or in place of the array, has failed", () => {
    for (const text of ['[{"error":{"code":500,"message":"Broken."}}]', '{"error":{"code":500,"message":"Broken."}}']) {
      const codec = new GeminiArrayStream();
      expect(pass(codec, [Buffer.from(text)]).complete).toBe(false);
      expect(codec.providerError).toBe("Broken.");
    }
  });
});

describe("a complete Gemini answer", () => {
  test("has cached tokens counted once, thoughts as output and tool-use tokens as input", () => {
    expect(readGeminiReply(fixture("reply-cache.json"))).toEqual({
      usage: { inputUncached: 47, cacheRead: 60, cacheWrite: 0, cacheWriteHour: 0, output: 50, reasoning: 30, estimated: false },
      fees: {},
      outputCharacters: 4,
    });
  });

  test("has tool calls counted as output", () => {
    expect(readGeminiReply(fixture("reply-tools.json"))?.outputCharacters).toBe('Looking.{"city":"Paris"}{"city":"Rome"}{}'.length);
  });

  test("is null for invalid JSON and other values", () => {
    expect(readGeminiReply(Buffer.from("[]"))).toBeNull();
    expect(readGeminiReply(Buffer.from("<html>"))).toBeNull();
    expect(readGeminiReply(Buffer.from("{}"))).toBeNull();
  });
});

test("a JSON array with elements other than objects is not read as an answer", () => {
  const body = '{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}';
  const read = (text: string) => {
    const reader = new GeminiArrayReader();
    reader.push(new TextEncoder().encode(text));
    return reader.end();
  };
  expect(read(`[${body}]`).complete).toBe(true);
  for (const odd of [`[1,${body}]`, `[${body},"x"]`, `[[${body}]]`, `[${body},null]`])
    expect(read(odd)).toEqual({ events: [], complete: false });
});

test("a text with quotes is counted to its end", () => {
  const text = '"a": [' + "x".repeat(400) + '"\\';
  const codec = new GeminiStream();
  const frame = `data: ${JSON.stringify({ candidates: [{ content: { role: "model", parts: [{ text }, { text }] } }] })}\n\n`;
  codec.push(new TextEncoder().encode(frame));
  expect(codec.outputLength).toBe(2 * (JSON.stringify(text).length - 2));
});
