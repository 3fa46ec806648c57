import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import type { ReplyContext } from "../conversation/codec.ts";
import type { Candidate, ConversationEvent, ConversationReply } from "../conversation/reply.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { geminiArrayWriter } from "./array-writer.ts";
import { geminiCodec } from "./gemini-codec.ts";

const bytesOf = (name: string) => readFileSync(new URL(`fixtures/${name}`, import.meta.url));
const fixture = (name: string): JsonObject => JSON.parse(bytesOf(`reply-${name}.json`).toString());
const CONTEXT: ReplyContext = {
  callId: "01CALL",
  model: "gemini-3-flash",
  created: 1_700_000_000,
  request: { generationConfig: { thinkingConfig: { includeThoughts: true } } },
  includeUsage: true,
};
const SILENT: ReplyContext = { ...CONTEXT, request: {} };

const usage = (input: number, output: number, rest: object = {}) => ({
  inputUncached: input,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWriteHour: 0,
  output,
  reasoning: 0,
  estimated: false,
  ...rest,
});
const answer = (parts: Candidate["parts"], told = usage(8, 5), rest: Partial<Candidate> = {}): ConversationReply => ({
  id: "r1Q2x7aB",
  candidates: [{ index: 0, parts, stop: "end", stopSequence: null, stopDetail: null, ...rest }],
  usage: told,
});
const gemini = (value: string) => ({ family: "gemini" as const, value });
const minted = expect.stringMatching(/^call_[0-9a-f]{24}$/) as unknown as string;

const EXPECTED: Record<string, ConversationReply> = {
  text: answer([{ kind: "text", text: "AI learns patterns from data." }]),
  cache: answer([{ kind: "text", text: "Yes." }], usage(47, 50, { cacheRead: 60, reasoning: 30 })),
  structured: answer([{ kind: "text", text: '{"name":"Crêpes"}' }]),
  length: answer([{ kind: "text", text: "Once upon a" }], usage(8, 5), { stop: "length" }),
  tools: answer(
    [
      { kind: "text", text: "Looking." },
      { kind: "tool_call", id: minted, name: "get_weather", arguments: '{"city":"Paris"}', signature: gemini("CiQB0e2Kb2xsbw==") },
      { kind: "tool_call", id: minted, name: "get_weather", arguments: '{"city":"Rome"}' },
      { kind: "tool_call", id: "own-1", name: "now", arguments: "{}" },
    ],
    usage(8, 5),
    { stop: "tool_call" },
  ),
  reasoning: answer(
    [
      { kind: "reasoning", text: "**Thinking**\nMultiply first.", redacted: false },
      { kind: "text", text: "The answer is " },
      { kind: "text", text: "391", signature: gemini("c2lnLXRleHQ=") },
      { kind: "text", text: "", signature: gemini("c2lnLWVtcHR5") },
    ],
    usage(9, 46, { reasoning: 40 }),
  ),
  blocked: answer([], usage(8, 0), { stop: "filtered", stopDetail: "PROHIBITED_CONTENT: not allowed" }),
  filtered: answer([{ kind: "text", text: "So you want" }], usage(8, 5), { stop: "filtered", stopDetail: "SAFETY: dangerous content" }),
  malformed: answer([], usage(8, 5), { stop: "malformed", stopDetail: "MALFORMED_FUNCTION_CALL: Malformed function call: print(x)" }),
  candidates: {
    id: "r1Q2x7aB",
    candidates: [
      { index: 0, parts: [{ kind: "text", text: "Heads" }], stop: "end", stopSequence: null, stopDetail: null },
      { index: 1, parts: [{ kind: "text", text: "Tails" }], stop: "length", stopSequence: null, stopDetail: null },
    ],
    usage: usage(8, 5),
  },
};
const STREAMED = Object.keys(EXPECTED).filter((name) => name !== "malformed");

/** Assembles an answer from its events, and checks the event order on which writers rely. */
function gather(events: readonly ConversationEvent[]): ConversationReply & { fault: string | null } {
  const parts = new Map<string, any>();
  const candidates: any[] = [];
  const open = new Set<string>();
  let [id, told, fault]: [string | null, any, string | null] = [null, null, null];
  expect(events[0]?.kind === "start" || events[0]?.kind === "fault" || events.length === 0).toBe(true);
  for (const event of events) {
    const key = "part" in event ? `${event.candidate}.${event.part}` : "";
    if (event.kind === "start") id = event.id;
    else if (event.kind === "usage") told = event.usage;
    else if (event.kind === "fault") fault = event.fault.message;
    else if (event.kind === "part_start") {
      expect(parts.has(key)).toBe(false);
      open.add(key);
      if (event.type === "tool_call") parts.set(key, { kind: "tool_call", id: event.id, name: event.name, arguments: "" });
      else parts.set(key, { kind: event.type, text: "", ...(event.type === "reasoning" && { redacted: false }) });
    } else if (event.kind === "picture") {
      parts.set(key, { kind: "picture", mediaType: event.mediaType, base64: event.base64 });
    } else if (event.kind === "stop") {
      expect([...open].some((each) => each.startsWith(`${event.candidate}.`))).toBe(false);
      const own = [...parts].filter(([each]) => each.startsWith(`${event.candidate}.`)).map(([, part]) => part);
      candidates.push({
        index: event.candidate,
        parts: own,
        stop: event.reason,
        stopSequence: event.stopSequence,
        stopDetail: event.stopDetail,
      });
    } else {
      expect(open.has(key)).toBe(true);
      const part = parts.get(key);
      if (event.kind === "part_end") open.delete(key);
      else if (event.kind === "signature") part.signature = event.signature;
      else if (event.kind === "delta") part[part.kind === "tool_call" ? "arguments" : "text"] += event.text;
    }
  }
  return { id, candidates, usage: told, fault };
}

function readStream(bytes: Uint8Array, cuts: readonly number[] = []) {
  const reader = geminiCodec.streamReader();
  const places = [0, ...new Set(cuts.map((at) => at % (bytes.length + 1)))].sort((a, b) => a - b);
  const events = places.flatMap((from, i) => reader.push(bytes.subarray(from, places[i + 1] ?? bytes.length)));
  const { events: last, complete } = reader.end();
  return { reply: gather([...events, ...last]), complete };
}

function eventsOf(reply: ConversationReply): ConversationEvent[] {
  const events: ConversationEvent[] = [{ kind: "start", id: reply.id }];
  for (const { index: candidate, parts, stop, stopSequence, stopDetail } of reply.candidates) {
    for (const [part, each] of parts.entries()) {
      if (each.kind === "picture") {
        events.push({ candidate, part, ...each });
        continue;
      }
      if (each.kind === "tool_call") events.push({ kind: "part_start", candidate, part, type: "tool_call", id: each.id, name: each.name });
      else events.push({ kind: "part_start", candidate, part, type: each.kind });
      const text = each.kind === "tool_call" ? each.arguments : each.text;
      for (const piece of text.match(/[\s\S]{1,3}/gu) ?? []) events.push({ kind: "delta", candidate, part, text: piece });
      if ("signature" in each && each.signature !== undefined)
        events.push({ kind: "signature", candidate, part, signature: each.signature, redacted: false });
      events.push({ kind: "part_end", candidate, part });
    }
    events.push({ kind: "stop", candidate, reason: stop, stopSequence, stopDetail });
  }
  if (reply.usage !== null) events.push({ kind: "usage", usage: reply.usage });
  return events;
}

function writeStream(reply: ConversationReply, context = CONTEXT): string {
  const writer = geminiCodec.streamWriter(context);
  return (
    eventsOf(reply)
      .map((event) => writer.write(event))
      .join("") + writer.close()
  );
}

const bodies = (sse: string): any[] =>
  sse
    .split("\r\n\r\n")
    .filter((frame) => frame !== "")
    .map((frame) => JSON.parse(frame.replace(/^data: /, "")));

describe("a Gemini answer", () => {
  test.each(Object.keys(EXPECTED))("%s: is read", (name) => {
    expect(geminiCodec.readReply(fixture(name))).toEqual(EXPECTED[name]!);
  });

  test.each(["text", "structured", "length", "reasoning", "candidates"])("%s: is written like Google writes it", (name) => {
    const { usageMetadata, ...rest } = geminiCodec.writeReply(EXPECTED[name]!, CONTEXT) as any;
    const { usageMetadata: told, ...expected } = fixture(name) as any;
    expect(rest).toEqual(expected);
    delete told.promptTokensDetails;
    expect(usageMetadata).toEqual(told);
  });

  test.each(STREAMED)("%s: is equal read from a stream, however that is cut", (name) => {
    const bytes = bytesOf(`stream-${name}.sse`);
    const whole = geminiCodec.readReply(fixture(name))!;
    fc.assert(
      fc.property(fc.array(fc.nat(4000), { maxLength: 6 }), (cuts) => {
        const { reply, complete } = readStream(bytes, cuts);
        expect({ reply, complete }).toEqual({ reply: { ...whole, fault: null }, complete: true });
      }),
      { numRuns: 25 },
    );
  });

  test("has tool call IDs that differ from those of other answers", () => {
    const ids = ["r1", "r2"].map(
      (responseId) => (geminiCodec.readReply({ ...fixture("tools"), responseId })!.candidates[0]!.parts[1] as any).id,
    );
    expect(ids[0]).not.toBe(ids[1]);
  });

  test("is null without candidates", () => {
    expect(geminiCodec.readReply({})).toBeNull();
    expect(geminiCodec.readReply({ error: { code: 500 } })).toBeNull();
    expect(geminiCodec.readReply({ candidates: [] })).toBeNull();
  });

  test("without a finish reason has ended if complete, but not if streamed", () => {
    expect(geminiCodec.readReply({ candidates: [{ content: { parts: [{ text: "x" }] } }] })?.candidates[0]?.stop).toBe("end");
    expect(readStream(Buffer.from('data: {"candidates":[{"content":{"parts":[{"text":"x"}]}}]}\n\n')).complete).toBe(false);
  });

  test("with an unknown finish reason has ended, and keeps the reason as a detail", () => {
    expect(geminiCodec.readReply({ candidates: [{ finishReason: "NEW_REASON" }] })?.candidates[0]).toMatchObject({
      stop: "end",
      stopDetail: "NEW_REASON",
    });
    expect(geminiCodec.readReply({ candidates: [{ finishReason: "toString" }] })?.candidates[0]).toMatchObject({ stop: "end" });
  });
});

describe("an answer of another model written for Gemini callers", () => {
  test("contains reasoning only if the request asked for thoughts", () => {
    const reply = answer([
      { kind: "reasoning", text: "Hm", redacted: false, signature: { family: "anthropic", value: "s" } },
      { kind: "text", text: "Yes" },
    ]);
    const parts = (context: ReplyContext) => (geminiCodec.writeReply(reply, context) as any).candidates[0].content.parts;
    expect(parts(SILENT)).toEqual([{ text: "Yes" }]);
    expect(parts(CONTEXT)).toEqual([{ text: "Hm", thought: true }, { text: "Yes" }]);
    expect(writeStream(reply, SILENT)).not.toContain("Hm");
    expect(writeStream(reply)).toContain('"thought":true');
    expect(writeStream(reply)).not.toContain("thoughtSignature");
  });

  test("with a refusal becomes a filtered text and keeps its details", () => {
    const written = geminiCodec.writeReply(
      answer([{ kind: "refusal", text: "I cannot." }], usage(1, 1), { stop: "refusal", stopDetail: "cyber" }),
      CONTEXT,
    ) as any;
    expect(written.candidates).toEqual([
      { content: { parts: [{ text: "I cannot." }], role: "model" }, finishReason: "SAFETY", finishMessage: "cyber", index: 0 },
    ]);
  });

  test("with tool call arguments that are no object ends as MALFORMED_FUNCTION_CALL", () => {
    const reply = answer(
      [
        { kind: "text", text: "x" },
        { kind: "tool_call", id: "c", name: "f", arguments: '{"a":' },
      ],
      usage(1, 1),
      { stop: "tool_call" },
    );
    const [candidate] = (geminiCodec.writeReply(reply, CONTEXT) as any).candidates;
    expect(candidate).toMatchObject({ content: { parts: [{ text: "x" }] }, finishReason: "MALFORMED_FUNCTION_CALL" });
    expect(bodies(writeStream(reply)).at(-1).candidates[0].finishReason).toBe("MALFORMED_FUNCTION_CALL");
  });

  test("has cache reads and writes included in the prompt token count", () => {
    const written = geminiCodec.writeReply(
      answer([], { ...usage(10, 9), cacheRead: 5, cacheWrite: 3, cacheWriteHour: 2, reasoning: 4 }),
      CONTEXT,
    );
    expect(written.usageMetadata).toEqual({
      promptTokenCount: 20,
      cachedContentTokenCount: 5,
      candidatesTokenCount: 5,
      thoughtsTokenCount: 4,
      totalTokenCount: 29,
    });
  });

  test("without an ID gets the call's ID", () => {
    expect(geminiCodec.writeReply({ ...answer([]), id: null }, CONTEXT).responseId).toBe("01CALL");
  });
});

describe("a stream written for Gemini callers", () => {
  const reply = answer(
    [
      { kind: "text", text: "Look: " },
      { kind: "tool_call", id: "c1", name: "f", arguments: '{"a":1}' },
      { kind: "tool_call", id: "c2", name: "f", arguments: "" },
    ],
    usage(3, 4),
    { stop: "tool_call" },
  );

  test("has texts as they arrive, complete tool calls, and a last body with finish reason and usage", () => {
    const sent = bodies(writeStream(reply));
    expect(sent.map(({ candidates }) => candidates[0].content.parts)).toEqual([
      [{ text: "Loo" }],
      [{ text: "k: " }],
      [{ functionCall: { id: "c1", name: "f", args: { a: 1 } } }],
      [{ functionCall: { id: "c2", name: "f", args: {} } }],
      [{ text: "" }],
    ]);
    expect(sent.slice(0, -1).some((body) => "usageMetadata" in body || "finishReason" in body.candidates[0])).toBe(false);
    expect(sent.at(-1)).toMatchObject({
      candidates: [{ finishReason: "STOP", index: 0 }],
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4 },
      modelVersion: "gemini-3-flash",
      responseId: "r1Q2x7aB",
    });
  });

  test("keeps parts that are open at the same time separate", () => {
    const writer = geminiCodec.streamWriter(CONTEXT);
    const call = (part: number) =>
      ({ kind: "part_start", candidate: 0, part, type: "tool_call", id: `c${part}`, name: `f${part}` }) as const;
    const delta = (part: number, text: string) => ({ kind: "delta", candidate: 0, part, text }) as const;
    const end = (part: number) => ({ kind: "part_end", candidate: 0, part }) as const;
    const text = [call(0), call(1), delta(1, '{"b"'), delta(0, '{"a"'), delta(1, ":2}"), delta(0, ":1}"), end(1), end(0)]
      .map((event) => writer.write(event))
      .join("");
    expect(bodies(text).map(({ candidates }) => candidates[0].content.parts[0].functionCall.args)).toEqual([{ b: 2 }, { a: 1 }]);
  });

  test("has the same bodies when written as a JSON array", () => {
    const writer = geminiArrayWriter(CONTEXT);
    const text =
      eventsOf(reply)
        .map((event) => writer.write(event))
        .join("") + writer.close();
    expect(JSON.parse(text)).toEqual(bodies(writeStream(reply)));
    const empty = geminiArrayWriter(CONTEXT);
    expect(JSON.parse(empty.close())).toHaveLength(1);
  });

  test("reports a failure as an error body, in both forms", () => {
    const fault = { kind: "fault", fault: { status: 503, message: "Busy.", code: "overloaded_error", param: null } } as const;
    const error = { error: { code: 503, message: "Busy.", status: "UNAVAILABLE" } };
    expect(bodies(geminiCodec.streamWriter(CONTEXT).write(fault))).toEqual([error]);
    expect(JSON.parse(`${geminiArrayWriter(CONTEXT).write(fault)}]`)).toEqual([error]);
  });
});

describe("a Gemini stream with errors", () => {
  test("ends with the provider's error", () => {
    const { reply, complete } = readStream(bytesOf("stream-error.sse"));
    expect({ complete, fault: reply.fault }).toEqual({ complete: false, fault: "The model is overloaded." });
  });

  test("with an unframed error body reports that error", () => {
    const { reply, complete } = readStream(
      Buffer.from('{\n "error": {\n  "code": 429,\n  "message": "Slow down.",\n  "status": "RESOURCE_EXHAUSTED"\n }\n}\n'),
    );
    expect({ complete, fault: reply.fault }).toEqual({ complete: false, fault: "Slow down." });
  });

  test("skips comments, empty events and [DONE], and fails on invalid JSON", () => {
    const text = bytesOf("stream-text.sse").toString();
    expect(readStream(Buffer.from(`: hello\r\n\r\n\r\n\r\nevent: ping\r\n\r\n${text}data: [DONE]\r\n\r\n`))).toMatchObject({
      complete: true,
      reply: { fault: null },
    });
    expect(readStream(Buffer.from(`data: <html>\n\n${text}`))).toMatchObject({
      complete: false,
      reply: { fault: expect.any(String), candidates: [] },
    });
  });
});
