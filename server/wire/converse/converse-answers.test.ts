import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { EventStreamCodec } from "@smithy/eventstream-codec";
import fc from "fast-check";
import type { Candidate, ConversationEvent, ConversationReply } from "../conversation/reply.ts";
import type { AssistantPart, TextPart } from "../conversation/conversation-parts.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { chatCodec } from "../openai/chat/codec.ts";
import type { Usage } from "../usage.ts";
import { converseCodec } from "./converse-codec.ts";

function fixture<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`fixtures/${name}`, import.meta.url), "utf8")) as T;
}

interface WrittenEvent {
  readonly event?: string;
  readonly exception?: string;
  readonly error?: string;
  readonly payload: unknown;
}

const encoder = new TextEncoder();
const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === "string" ? bytes : new TextDecoder().decode(bytes)),
  (text) => encoder.encode(text),
);

/** Encodes application/vnd.amazon.eventstream as AWS does. */
function eventStreamBytes(events: readonly WrittenEvent[]): Uint8Array {
  return Buffer.concat(events.map(frame));
}

function frame({ event, exception, error, payload }: WrittenEvent): Uint8Array {
  const type = exception !== undefined ? "exception" : error !== undefined ? "error" : "event";
  const said: Record<string, string> =
    type === "error"
      ? { ":error-code": error ?? "", ":error-message": String(payload) }
      : type === "exception"
        ? { ":exception-type": exception ?? "", ":content-type": "application/json" }
        : { ":event-type": event ?? "", ":content-type": "application/json" };
  const headers = Object.fromEntries(
    Object.entries({ ":message-type": type, ...said }).map(([name, value]) => [name, { type: "string" as const, value }]),
  );
  return codec.encode({ headers, body: type === "error" ? new Uint8Array(0) : encoder.encode(JSON.stringify(payload)) });
}

const usage: Usage = { inputUncached: 12, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0, output: 7, reasoning: 0, estimated: false };

function answer(parts: readonly AssistantPart[], stop: Partial<Candidate> = {}, used: Usage = usage): ConversationReply {
  return { id: null, candidates: [{ index: 0, parts, stop: "end", stopSequence: null, stopDetail: null, ...stop }], usage: used };
}

const EXPECTED: Readonly<Record<string, ConversationReply>> = {
  text: answer([{ kind: "text", text: "Grüße aus Übersee 👋" }]),
  tools: answer(
    [
      { kind: "text", text: "Let me look." },
      { kind: "tool_call", id: "tooluse_A1", name: "get_weather", arguments: '{"city":"Zürich"}' },
      { kind: "tool_call", id: "tooluse_B2", name: "get_weather", arguments: '{"city":"Bern"}' },
      { kind: "tool_call", id: "tooluse_C3", name: "now", arguments: "{}" },
    ],
    { stop: "tool_call" },
  ),
  reasoning: answer(
    [
      { kind: "reasoning", text: "Two and two.", redacted: false, signature: { family: "anthropic", value: "c2lnbmF0dXJl" } },
      { kind: "reasoning", text: "", redacted: true, signature: { family: "anthropic", value: "cmVkYWN0ZWQ=" } },
      { kind: "text", text: "Four." },
    ],
    {},
    { inputUncached: 10, cacheRead: 2000, cacheWrite: 200, cacheWriteHour: 400, output: 40, reasoning: 0, estimated: false },
  ),
  filtered: answer([{ kind: "text", text: "Sorry, the model cannot answer this question." }], {
    stop: "filtered",
    stopDetail: "guardrail_intervened",
  }),
  length: answer([{ kind: "text", text: "Once upon a" }], { stop: "length" }),
  "stop-sequence": answer([{ kind: "text", text: "1 2 " }], { stop: "stop_sequence", stopSequence: "3" }),
  citations: answer([
    {
      kind: "text",
      text: "Bern is the capital.",
      citations: [{ start: 0, end: 20, quote: "x", source: { kind: "document", id: null, title: "atlas", place: null } }],
    },
  ]),
  "server-tool": answer([{ kind: "text", text: "Found it." }]),
};

/** Assembles an answer from its events, and checks that their order is valid. */
function assembled(events: readonly ConversationEvent[]): ConversationReply {
  const parts: AssistantPart[] = [];
  const open = new Set<number>();
  let stop: Candidate | null = null;
  let used: Usage | null = null;
  expect(events[0]?.kind).toBe("start");
  for (const event of events.slice(1)) {
    if (event.kind === "usage") used = event.usage;
    else if (event.kind === "stop") {
      expect(open.size).toBe(0);
      stop = { index: 0, parts, stop: event.reason, stopSequence: event.stopSequence, stopDetail: event.stopDetail };
    } else if (event.kind === "part_start") {
      expect(event.part).toBe(parts.length);
      open.add(event.part);
      parts.push(
        event.type === "tool_call"
          ? { kind: "tool_call", id: event.id, name: event.name, arguments: "" }
          : event.type === "reasoning"
            ? { kind: "reasoning", text: "", redacted: false }
            : { kind: "text", text: "" },
      );
    } else if (event.kind === "delta" || event.kind === "signature" || event.kind === "part_end") {
      expect(open.has(event.part)).toBe(true);
      const part = parts[event.part] as AssistantPart;
      if (event.kind === "part_end") open.delete(event.part);
      else if (event.kind === "signature")
        parts[event.part] = { ...part, signature: event.signature, redacted: event.redacted } as AssistantPart;
      else
        parts[event.part] =
          part.kind === "tool_call"
            ? { ...part, arguments: part.arguments + event.text }
            : ({ ...part, text: part.text + event.text } as AssistantPart);
    } else if (event.kind === "citation") {
      const part = parts[event.part] as TextPart;
      parts[event.part] = { ...part, citations: [...(part.citations ?? []), event.citation] };
    } else throw new Error(`unexpected ${event.kind}`);
  }
  if (stop === null) throw new Error("no stop");
  return { id: null, candidates: [stop], usage: used };
}

function read(pieces: readonly Uint8Array[]) {
  const reader = converseCodec.streamReader();
  const events = pieces.flatMap((piece) => reader.push(piece));
  const { events: last, complete } = reader.end();
  return { events: [...events, ...last], complete };
}

function cut(bytes: Uint8Array, points: readonly number[]): Uint8Array[] {
  const at = [...new Set(points.map((point) => point % (bytes.byteLength + 1)))].toSorted((a, b) => a - b);
  return [0, ...at].map((start, i) => bytes.slice(start, at[i] ?? bytes.byteLength));
}

describe("a Converse answer", () => {
  test.each(Object.entries(EXPECTED))("%s: is read", (name, expected) => {
    expect(converseCodec.readReply(fixture<JsonObject>(`${name}.reply.json`))).toEqual(expected);
  });

  test.each(Object.entries(EXPECTED))("%s: is read from a stream cut at any bytes", (name, expected) => {
    const bytes = eventStreamBytes(fixture<WrittenEvent[]>(`${name}.stream.json`));
    fc.assert(
      fc.property(fc.array(fc.nat(100_000), { maxLength: 12 }), (points) => {
        const { events, complete } = read(cut(bytes, points));
        expect(complete).toBe(true);
        expect(assembled(events)).toEqual(expected);
      }),
      { numRuns: 40 },
    );
    expect(assembled(read([...bytes].map((byte) => Uint8Array.of(byte))).events)).toEqual(expected);
  });

  test.each([{}, { output: {} }, { output: { message: { content: "text" } } }, { message: "no" }])("is null for %j", (body) => {
    expect(converseCodec.readReply(body as JsonObject)).toBeNull();
  });

  test("gets a generated ID for a tool call without one, the same each time", () => {
    const body = {
      output: { message: { content: [{ toolUse: { name: "a", input: {} } }, { toolUse: { name: "a", input: {} } }] } },
      stopReason: "tool_use",
    };
    const ids = () => converseCodec.readReply(body)?.candidates[0]?.parts.map((part) => (part.kind === "tool_call" ? part.id : ""));
    const first = ids();
    expect(new Set(first).size).toBe(2);
    expect(ids()).toEqual(first as string[]);
    for (const id of first ?? []) expect(id).toMatch(/^call_[0-9a-f]{24}$/);
  });

  test("with interleaved blocks has them separated", () => {
    const delta = (contentBlockIndex: number, value: unknown) => ({
      event: "contentBlockDelta",
      payload: { contentBlockIndex, delta: value },
    });
    const start = (contentBlockIndex: number, toolUseId: string) => ({
      event: "contentBlockStart",
      payload: { contentBlockIndex, start: { toolUse: { toolUseId, name: "f" } } },
    });
    const { events, complete } = read([
      eventStreamBytes([
        start(0, "a"),
        start(1, "b"),
        delta(0, { toolUse: { input: '{"x":' } }),
        delta(1, { toolUse: { input: '{"y":2}' } }),
        delta(0, { toolUse: { input: "1}" } }),
        { event: "messageStop", payload: { stopReason: "tool_use" } },
      ]),
    ]);
    expect(complete).toBe(true);
    expect(assembled(events).candidates[0]?.parts).toEqual([
      { kind: "tool_call", id: "a", name: "f", arguments: '{"x":1}' },
      { kind: "tool_call", id: "b", name: "f", arguments: '{"y":2}' },
    ]);
  });

  test("with text and reasoning within one block has two parts", () => {
    const delta = (value: unknown) => ({ event: "contentBlockDelta", payload: { contentBlockIndex: 0, delta: value } });
    const { events } = read([
      eventStreamBytes([
        delta({ text: "a" }),
        delta({ reasoningContent: { text: "b" } }),
        { event: "messageStop", payload: { stopReason: "end_turn" } },
      ]),
    ]);
    expect(assembled(events).candidates[0]?.parts.map(({ kind }) => kind)).toEqual(["text", "reasoning"]);
  });

  test.each([
    ["end_turn", true, "tool_calls"],
    ["made_up", true, "tool_calls"],
    ["max_tokens", true, "length"],
    ["tool_use", false, "stop"],
  ])("that ends with %s (with a tool call: %p) has the finish reason %s in chat completions", (stopReason, calls, finish_reason) => {
    const start = { contentBlockIndex: 0, start: { toolUse: { toolUseId: "a", name: "f" } } };
    const block = calls
      ? { event: "contentBlockStart", payload: start }
      : { event: "contentBlockDelta", payload: { contentBlockIndex: 0, delta: { text: "hi" } } };
    const content = [calls ? { toolUse: { toolUseId: "a", name: "f", input: {} } } : { text: "hi" }];
    const whole = converseCodec.readReply({ output: { message: { role: "assistant", content } }, stopReason }) as ConversationReply;
    const streamed = assembled(read([eventStreamBytes([block, { event: "messageStop", payload: { stopReason } }])]).events);
    const context = { callId: "k", model: "m", created: 1, request: {}, includeUsage: true };
    for (const reply of [whole, streamed]) expect(chatCodec.writeReply(reply, context).choices).toMatchObject([{ finish_reason }]);
  });

  test("with unknown events is read without them", () => {
    const events = fixture<WrittenEvent[]>("text.stream.json").flatMap((event) => [event, { event: "somethingNew", payload: { a: 1 } }]);
    expect(assembled(read([eventStreamBytes(events)]).events)).toEqual(EXPECTED.text as ConversationReply);
  });

  test("without usage is complete", () => {
    const events = fixture<WrittenEvent[]>("text.stream.json").slice(0, -1);
    const { events: seen, complete } = read([eventStreamBytes(events)]);
    expect([assembled(seen).usage, complete]).toEqual([null, true]);
  });

  test("that breaks off is incomplete", () => {
    const bytes = eventStreamBytes(fixture<WrittenEvent[]>("text.stream.json").slice(0, 3));
    expect(read([bytes]).complete).toBe(false);
    expect(read([bytes.slice(0, -5)]).complete).toBe(false);
    expect(read([])).toEqual({ events: [], complete: false });
  });
});

describe("a Converse error", () => {
  test.each(
    fixture<{ status: number; body: JsonObject | null; fault: unknown }[]>("faults.json").map((item) => [item.status, item] as const),
  )("HTTP %d is read", (_status, { status, body, fault }) => {
    expect(converseCodec.readFault(status, body)).toEqual(fault as ReturnType<typeof converseCodec.readFault>);
  });

  test("takes its code from the header if the body has none", () => {
    const headers = new Headers({ "x-amzn-errortype": "ThrottlingException:http://internal.amazon.com/coral/" });
    expect(converseCodec.readFault(429, { message: "Slow down." }, headers)).toEqual({
      status: 429,
      message: "Slow down.",
      code: "ThrottlingException",
      param: null,
    });
  });

  test.each([
    [
      { exception: "throttlingException", payload: { message: "Slow down." } },
      { status: 429, message: "Slow down.", code: "throttlingException", param: null },
    ],
    [
      { exception: "validationException", payload: { message: "Bad." } },
      { status: 400, message: "Bad.", code: "validationException", param: null },
    ],
    [
      { exception: "modelStreamErrorException", payload: { message: "Broken.", originalStatusCode: 500, originalMessage: "x" } },
      { status: 500, message: "Broken.", code: "modelStreamErrorException", param: null },
    ],
    [
      { exception: "serviceUnavailableException", payload: {} },
      {
        status: 503,
        message: "Amazon Bedrock broke off its answer: serviceUnavailableException.",
        code: "serviceUnavailableException",
        param: null,
      },
    ],
    [
      { error: "InternalError", payload: "It broke." },
      { status: 502, message: "It broke.", code: "InternalError", param: null },
    ],
  ] as const)("within a stream is read: %j", (written, fault) => {
    const { events, complete } = read([
      eventStreamBytes([
        ...fixture<WrittenEvent[]>("text.stream.json").slice(0, 2),
        written,
        ...fixture<WrittenEvent[]>("text.stream.json").slice(2),
      ]),
    ]);
    expect(events.at(-1)).toEqual({ kind: "fault", fault });
    expect(complete).toBe(false);
  });

  test("after the stop event still fails the answer", () => {
    const { events, complete } = read([
      eventStreamBytes([
        ...fixture<WrittenEvent[]>("text.stream.json").slice(0, -1),
        { exception: "internalServerException", payload: { message: "Late." } },
      ]),
    ]);
    expect(events.at(-1)).toEqual({
      kind: "fault",
      fault: { status: 500, message: "Late.", code: "internalServerException", param: null },
    });
    expect(complete).toBe(false);
  });

  test.each([
    ["an HTML page", new TextEncoder().encode("<html>no event stream at all</html>")],
    ["a message of 4 GiB", Uint8Array.of(255, 255, 255, 255, 0, 0, 0, 0)],
    ["a message of 4 bytes", Uint8Array.of(0, 0, 0, 4)],
  ])("is reported for %s instead of a stream", (_name, bytes) => {
    const { events, complete } = read([bytes]);
    expect(events).toMatchObject([{ kind: "fault", fault: { status: 502 } }]);
    expect(complete).toBe(false);
  });
});

describe("invalid input never throws", () => {
  test("corrupted bytes are detected or leave the stream incomplete", () => {
    for (const name of ["tools", "reasoning"]) {
      const bytes = eventStreamBytes(fixture<WrittenEvent[]>(`${name}.stream.json`));
      fc.assert(
        fc.property(fc.nat(bytes.byteLength - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
          const changed = bytes.slice();
          changed[at] = (changed[at] as number) ^ flip;
          const { events, complete } = read([changed]);
          // The damage is detected, or the stream waits for bytes that never come.
          expect(events.some(({ kind }) => kind === "fault") || !complete || changed[at] === bytes[at]).toBe(true);
        }),
        { numRuns: 150 },
      );
    }
  });

  test("payloads of any shape are read without an exception", () => {
    const names = ["messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata", ""];
    const members = fc.constantFrom(
      "contentBlockIndex",
      "delta",
      "start",
      "toolUse",
      "reasoningContent",
      "text",
      "input",
      "usage",
      "stopReason",
      "name",
    );
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: "small" },
        fc.constantFrom(null, true, 0, 1, -1, 1e99, "", "a", "tool_use"),
        fc.array(tie("value"), { maxLength: 2 }),
        fc.dictionary(members, tie("value"), { maxKeys: 3 }),
      ),
    }));
    fc.assert(
      fc.property(fc.array(fc.record({ event: fc.constantFrom(...names), payload: value }), { maxLength: 8 }), (events) => {
        read([eventStreamBytes(events)]);
      }),
      { numRuns: 200 },
    );
    fc.assert(
      fc.property(value, fc.integer({ min: 400, max: 599 }), (body, status) => {
        converseCodec.readReply({
          output: { message: { content: [body, { toolUse: body }, { reasoningContent: body }, { citationsContent: body }] } },
          usage: body,
          stopReason: body,
          additionalModelResponseFields: body,
        } as JsonObject);
        converseCodec.readReply({ output: body } as JsonObject);
        converseCodec.readFault(status, { message: body, __type: body } as JsonObject);
      }),
      { numRuns: 200 },
    );
  });
});
