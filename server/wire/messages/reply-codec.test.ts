import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import type { ConversationEvent, ConversationReply, StopReason } from "../conversation/reply.ts";
import type { AssistantPart } from "../conversation/conversation-parts.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { errorTypeOf } from "./fault.ts";
import { messagesCodec } from "./messages-codec.ts";
import { readMessagesReply } from "./messages-reply.ts";

const bytesOf = (name: string): Uint8Array => new Uint8Array(readFileSync(new URL(`fixtures/${name}`, import.meta.url)));
const textOf = (name: string): string => new TextDecoder().decode(bytesOf(name));
const reply = (name: string): JsonObject => JSON.parse(textOf(`reply-${name}.json`));
const CONTEXT = { callId: "01CALL", model: "claude-opus-5-5", created: 1, request: {}, includeUsage: true };

const usage = (inputUncached: number, output: number, more = {}) => ({
  inputUncached,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWriteHour: 0,
  output,
  reasoning: 0,
  estimated: false,
  ...more,
});
const said = (id: string, parts: AssistantPart[], stop: StopReason, counts: ReturnType<typeof usage>, more = {}): ConversationReply => ({
  id,
  candidates: [{ index: 0, parts, stop, stopSequence: null, stopDetail: null, ...more }],
  usage: counts,
});
const text = (words: string): AssistantPart => ({ kind: "text", text: words });

const EXPECTED: Record<string, ConversationReply> = {
  text: said("msg_01A", [text("Hello! Grüße — how can I help?")], "end", usage(12, 9)),
  tools: said(
    "msg_01B",
    [
      text("I will look."),
      { kind: "tool_call", id: "toolu_01", name: "get_weather", arguments: '{"city":"Rome"}' },
      { kind: "tool_call", id: "toolu_02", name: "get_weather", arguments: '{"city":"Oslo"}' },
      { kind: "tool_call", id: "toolu_03", name: "now", arguments: "{}" },
    ],
    "tool_call",
    usage(80, 61),
  ),
  reasoning: said(
    "msg_01C",
    [
      {
        kind: "reasoning",
        text: "I should multiply 17 by 23.",
        redacted: false,
        signature: { family: "anthropic", value: "EqQBCgIYAhIkMDFh" },
      },
      { kind: "reasoning", text: "", redacted: true, signature: { family: "anthropic", value: "EmwKAhgBEgy3va3p" } },
      text("391"),
    ],
    "end",
    usage(20, 50, { reasoning: 41 }),
  ),
  refusal: said("msg_01D", [], "refusal", usage(30, 1), { stopDetail: "This asks for harm." }),
  length: said("msg_01E", [text("Once upon a time")], "length", usage(9, 4)),
  "stop-sequence": said("msg_01F", [text("one two ")], "stop_sequence", usage(9, 4), { stopSequence: "END" }),
  structured: said("msg_01G", [text('{"city":"Rome"}')], "end", usage(40, 8)),
  cache: said("msg_01H", [text("Cached.")], "end", usage(3, 2, { cacheRead: 2000, cacheWrite: 100, cacheWriteHour: 400 })),
};

/** Assembles an answer from its events, and checks that their order is valid. */
function gathered(events: readonly ConversationEvent[]): ConversationReply {
  const open = new Map<number, Record<string, unknown>>();
  const parts: Record<string, unknown>[] = [];
  let result: ConversationReply = { id: null, candidates: [], usage: null };
  expect(events[0]?.kind).toBe("start");
  for (const event of events) {
    if (event.kind === "start") result = { ...result, id: event.id };
    else if (event.kind === "usage") result = { ...result, usage: event.usage };
    else if (event.kind === "part_start") {
      expect(event.part).toBe(parts.length);
      const part =
        event.type === "tool_call"
          ? { kind: event.type, id: event.id, name: event.name, arguments: "" }
          : event.type === "reasoning"
            ? { kind: event.type, text: "", redacted: false }
            : { kind: event.type, text: "" };
      parts.push(part);
      open.set(event.part, part);
    } else if (event.kind === "delta") {
      const part = open.get(event.part)!;
      const member = part.kind === "tool_call" ? "arguments" : "text";
      part[member] = `${part[member] as string}${event.text}`;
    } else if (event.kind === "signature") {
      const part = open.get(event.part)!;
      part.signature = event.signature;
      part.redacted = event.redacted;
    } else if (event.kind === "part_end") expect(open.delete(event.part)).toBe(true);
    else if (event.kind === "stop") {
      expect(open.size).toBe(0);
      result = {
        ...result,
        candidates: [
          { index: 0, parts: parts as never, stop: event.reason, stopSequence: event.stopSequence, stopDetail: event.stopDetail },
        ],
      };
    }
  }
  return result;
}

function readStream(bytes: Uint8Array, cuts: readonly number[] = []) {
  const reader = messagesCodec.streamReader();
  const events: ConversationEvent[] = [];
  let from = 0;
  for (const cut of [...new Set(cuts.map((at) => at % (bytes.length + 1)))].sort((a, b) => a - b).concat(bytes.length)) {
    events.push(...reader.push(bytes.slice(from, cut)));
    from = cut;
  }
  const { events: last, complete } = reader.end();
  return { events: [...events, ...last], complete };
}

const write = (events: readonly ConversationEvent[]) => {
  const writer = messagesCodec.streamWriter(CONTEXT);
  return events.map((event) => writer.write(event)).join("") + writer.close();
};
const frames = (stream: string) => stream.split("\n\n").slice(0, -1);
const datas = (stream: string): JsonObject[] => frames(stream).map((frame) => JSON.parse(frame.slice(frame.indexOf("data: ") + 6)));

describe("a Messages answer", () => {
  for (const [name, expected] of Object.entries(EXPECTED)) {
    test(`${name}: is read and written like the vendor's`, () => {
      expect(messagesCodec.readReply(reply(name))).toEqual(expected);
      expect(messagesCodec.writeReply(expected, CONTEXT)).toEqual(reply(name));
    });

    test(`${name}: is equal read from its stream, however that is cut`, () => {
      fc.assert(
        fc.property(fc.array(fc.nat(), { maxLength: 40 }), (cuts) => {
          const { events, complete } = readStream(bytesOf(`stream-${name}.sse`), cuts);
          expect(complete).toBe(true);
          expect(gathered(events)).toEqual(expected);
        }),
        { numRuns: 40 },
      );
    });

    test(`${name}: its stream is written like the vendor's`, () => {
      const wanted = frames(textOf(`stream-${name}.sse`)).filter((frame) => !frame.startsWith("event: ping"));
      const written = frames(write(readStream(bytesOf(`stream-${name}.sse`)).events));
      // The first frame has the input count, which a translation only knows at the end.
      expect(written.slice(1)).toEqual(wanted.slice(1));
      const start = JSON.parse(written[0]!.split("data: ")[1]!);
      expect(start.message).toEqual({
        ...JSON.parse(wanted[0]!.split("data: ")[1]!).message,
        usage: expect.objectContaining({ input_tokens: 0, output_tokens: 0 }),
      });
    });
  }

  test("has its usage and output length read", () => {
    expect(readMessagesReply(bytesOf("reply-cache.json"))).toEqual({ usage: EXPECTED.cache!.usage, fees: {}, outputCharacters: 7 });
    expect(readMessagesReply(bytesOf("reply-tools.json"))?.outputCharacters).toBe(12 + 15 + 15 + 2);
    expect(readMessagesReply(new TextEncoder().encode("nonsense"))).toBeNull();
    expect(readMessagesReply(new TextEncoder().encode("{}"))).toBeNull();
  });

  test("has cache writes without details counted as five-minute writes", () => {
    const { cache_creation: _, ...counts } = reply("cache").usage as JsonObject;
    expect(messagesCodec.readReply({ ...reply("cache"), usage: counts })?.usage).toMatchObject({ cacheWrite: 500, cacheWriteHour: 0 });
  });

  test("has its stop reasons read and written", () => {
    const stop = (stop_reason: string | null, more = {}) => messagesCodec.readReply({ content: [], stop_reason, ...more })?.candidates[0];
    expect(stop("pause_turn")?.stop).toBe("pause");
    expect(stop("made_up")?.stop).toBe("end");
    expect(stop("refusal", { stop_details: { type: "refusal", category: "cyber", explanation: null } })).toMatchObject({
      stop: "refusal",
      stopDetail: "cyber",
    });
    expect(stop("model_context_window_exceeded")).toMatchObject({ stop: "length", stopDetail: "model_context_window_exceeded" });
    const written = (parts: AssistantPart[], reason: StopReason, stopDetail: string | null = null) =>
      messagesCodec.writeReply(said("x", parts, reason, usage(1, 1), { stopDetail }), CONTEXT);
    expect(written([], "length", "model_context_window_exceeded").stop_reason).toBe("model_context_window_exceeded");
    expect(written([], "filtered", "SAFETY")).toMatchObject({
      stop_reason: "refusal",
      stop_details: { type: "refusal", category: null, explanation: "SAFETY" },
    });
    expect(written([{ kind: "refusal", text: "No." }], "end")).toMatchObject({
      stop_reason: "refusal",
      content: [{ type: "text", text: "No." }],
    });
    expect(written([{ kind: "tool_call", id: "c", name: "t", arguments: "{}" }], "end").stop_reason).toBe("tool_use");
    expect(written([], "pause").stop_reason).toBe("pause_turn");
  });

  test.each([
    ["end_turn", { type: "tool_use", id: "c", name: "t", input: {} }, "tool_call"],
    ["max_tokens", { type: "tool_use", id: "c", name: "t", input: {} }, "length"],
    ["tool_use", { type: "text", text: "hi" }, "end"],
  ] as const)("with the stop reason %s is read according to its content: %j", (stop_reason, block, reason) => {
    expect(messagesCodec.readReply({ content: [block], stop_reason })?.candidates[0]?.stop).toBe(reason);
    const events = [
      { type: "message_start", message: { id: "m" } },
      { type: "content_block_start", index: 0, content_block: block },
      { type: "message_delta", delta: { stop_reason } },
      { type: "message_stop" },
    ];
    const reader = messagesCodec.streamReader();
    const read = reader.push(new TextEncoder().encode(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")));
    expect(read.find(({ kind }) => kind === "stop")).toMatchObject({ reason });
  });

  test("includes other vendors' reasoning without signatures", () => {
    const parts: AssistantPart[] = [
      { kind: "reasoning", text: "hm", redacted: false, signature: { family: "gemini", value: "g" } },
      { kind: "reasoning", text: "", redacted: true, signature: { family: "openai", value: "o" } },
      text(""),
    ];
    expect(messagesCodec.writeReply({ ...said("x", parts, "end", usage(1, 1)), id: null }, CONTEXT)).toMatchObject({
      id: "msg_01CALL",
      content: [{ type: "thinking", thinking: "hm", signature: "" }],
    });
  });

  test("has no citations member if there are none, because AI SDK 5 and 6 refuse null", () => {
    expect(messagesCodec.writeReply(said("x", [text("a")], "end", usage(1, 1)), CONTEXT).content).toEqual([{ type: "text", text: "a" }]);
    const streamed = datas(
      write([
        { kind: "part_start", candidate: 0, part: 0, type: "text" },
        { kind: "delta", candidate: 0, part: 0, text: "a" },
        { kind: "part_end", candidate: 0, part: 0 },
      ]),
    );
    expect(streamed[1]).toEqual({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } });
  });

  test("is null for errors, and skips unknown blocks", () => {
    expect(messagesCodec.readReply({ error: {} })).toBeNull();
    expect(
      messagesCodec.readReply({ content: [7, { type: "text" }, { type: "server_tool_use" }, { type: "tool_use", input: "x" }] })
        ?.candidates[0]?.parts,
    ).toEqual([text(""), { kind: "tool_call", id: "call_1", name: "", arguments: "{}" }]);
  });
});

describe("reading a Messages stream", () => {
  const encode = (...events: JsonObject[]) =>
    new TextEncoder().encode(events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`).join(""));
  const kinds = (...events: JsonObject[]) => readStream(encode(...events)).events.map(({ kind }) => kind);
  const start = { type: "message_start", message: { id: "m" } };
  const delta = (index: number, grown: JsonObject) => ({ type: "content_block_delta", index, delta: grown });
  const stop = { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } };

  test("an error right after the start becomes a fault with its status, and nothing follows", () => {
    const { events, complete } = readStream(bytesOf("stream-overloaded.sse"));
    expect(complete).toBe(false);
    expect(events.map(({ kind }) => kind)).toEqual(["start", "usage", "fault"]);
    expect(events.at(-1)).toEqual({ kind: "fault", fault: { status: 529, message: "Overloaded", code: "overloaded_error", param: null } });
  });

  test("invalid JSON is a fault, unknown events are skipped", () => {
    expect(readStream(new TextEncoder().encode("event: x\ndata: {oops\n\n")).events).toMatchObject([
      { kind: "fault", fault: { status: 502 } },
    ]);
    expect(kinds(start, { type: "new_event" }, { type: "ping" }, [1] as never, stop, { type: "message_stop" })).toEqual([
      "start",
      "usage",
      "stop",
    ]);
  });

  test("an interrupted stream is incomplete", () => {
    const bytes = bytesOf("stream-tools.sse");
    expect(readStream(bytes.slice(0, bytes.length - 300)).complete).toBe(false);
  });

  test("a stream cut within an event is no fault, and is complete if the stop came before", () => {
    const ended = encode(start, delta(0, { type: "text_delta", text: "a" }), stop);
    const closing = new TextEncoder().encode('event: message_stop\ndata: {"type":"message_stop"}');
    for (let length = 1; length <= closing.length; length++) {
      const { events, complete } = readStream(Buffer.concat([ended, closing.slice(0, length)]));
      expect([complete, events.at(-1)?.kind]).toEqual([true, "stop"]);
    }
    const whole = bytesOf("stream-tools.sse");
    for (let length = 1; length <= whole.length; length++)
      expect(readStream(whole.slice(0, length)).events.some(({ kind }) => kind === "fault")).toBe(false);
  });

  test("reasoning within a text block becomes a part of its own, and unopened blocks are opened", () => {
    const { events } = readStream(
      encode(
        start,
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        delta(0, { type: "thinking_delta", thinking: "hm" }),
        delta(0, { type: "text_delta", text: "a" }),
        stop,
      ),
    );
    expect(gathered(events).candidates[0]?.parts).toEqual([text(""), { kind: "reasoning", text: "hm", redacted: false }, text("a")]);
    expect(gathered(readStream(encode(delta(3, { type: "text_delta", text: "b" }), stop)).events).candidates[0]?.parts).toEqual([
      text("b"),
    ]);
  });

  test("arguments in the start of a block are kept, and not doubled by later fragments", () => {
    const block = { type: "content_block_start", index: 1, content_block: { type: "tool_use", id: "t", name: "n", input: { a: 1 } } };
    const call = { kind: "tool_call", id: "t", name: "n", arguments: '{"a":1}' };
    expect(gathered(readStream(encode(start, block, stop)).events).candidates[0]?.parts).toEqual([call] as never);
    expect(
      gathered(readStream(encode(start, block, delta(1, { type: "input_json_delta", partial_json: '{"a":1}' }), stop)).events).candidates[0]
        ?.parts,
    ).toEqual([call] as never);
  });

  test("blocks of the vendor's own tools and a second start are skipped", () => {
    expect(
      kinds(
        start,
        start,
        { type: "content_block_start", index: 0, content_block: { type: "server_tool_use", input: {} } },
        delta(0, { type: "input_json_delta", partial_json: "{" }),
        { type: "content_block_stop", index: 0 },
        stop,
      ),
    ).toEqual(["start", "usage", "stop"]);
  });

  test("usage counts are totals: later values replace earlier ones, and missing ones are kept", () => {
    const first = {
      type: "message_start",
      message: {
        id: "m",
        usage: {
          input_tokens: 10,
          output_tokens: 3,
          cache_read_input_tokens: 5,
          cache_creation_input_tokens: 8,
          cache_creation: { ephemeral_1h_input_tokens: 8 },
        },
      },
    };
    const usages = readStream(encode(first, { ...stop, usage: { output_tokens: 7, input_tokens: null } }, stop)).events.filter(
      ({ kind }) => kind === "usage",
    );
    expect(usages.at(-2)).toEqual({ kind: "usage", usage: usage(10, 7, { cacheRead: 5, cacheWriteHour: 8 }) });
  });
});

describe("writing a Messages stream", () => {
  test("parts that grow at the same time are written one after the other", () => {
    const start = (part: number): ConversationEvent => ({
      kind: "part_start",
      candidate: 0,
      part,
      type: "tool_call",
      id: `c${part}`,
      name: "t",
    });
    const more = (part: number, words: string): ConversationEvent => ({ kind: "delta", candidate: 0, part, text: words });
    const out = datas(
      write([
        { kind: "start", id: "x" },
        { kind: "part_start", candidate: 0, part: 0, type: "text" },
        start(1),
        more(0, "a"),
        start(2),
        more(2, '{"z":'),
        more(1, "{}"),
        { kind: "part_end", candidate: 0, part: 2 },
        { kind: "part_end", candidate: 0, part: 0 },
        more(1, " "),
        { kind: "stop", candidate: 0, reason: "end", stopSequence: null, stopDetail: null },
      ]),
    );
    expect(out.map(({ type, index }) => [type, index])).toEqual([
      ["message_start", undefined],
      ["content_block_start", 0],
      ["content_block_delta", 0],
      ["content_block_stop", 0],
      ["content_block_start", 1],
      ["content_block_delta", 1],
      ["content_block_delta", 1],
      ["content_block_stop", 1],
      ["content_block_start", 2],
      ["content_block_delta", 2],
      ["content_block_stop", 2],
      ["message_delta", undefined],
      ["message_stop", undefined],
    ]);
    expect(out.at(-2)).toMatchObject({ delta: { stop_reason: "tool_use" }, usage: { output_tokens: 0 } });
  });

  test("empty texts, signatures of other vendors and further candidates are left out", () => {
    const out = write([
      { kind: "part_start", candidate: 0, part: 0, type: "text" },
      { kind: "delta", candidate: 0, part: 0, text: "" },
      { kind: "part_end", candidate: 0, part: 0 },
      { kind: "part_start", candidate: 1, part: 0, type: "text" },
      { kind: "delta", candidate: 1, part: 0, text: "other" },
      { kind: "part_start", candidate: 0, part: 1, type: "reasoning" },
      { kind: "signature", candidate: 0, part: 1, signature: { family: "gemini", value: "g" }, redacted: false },
      { kind: "part_end", candidate: 0, part: 1 },
    ]);
    expect(datas(out).map(({ type }) => type)).toEqual(["message_start", "message_delta", "message_stop"]);
  });

  test("a fault becomes an error event", () => {
    expect(
      messagesCodec
        .streamWriter(CONTEXT)
        .write({ kind: "fault", fault: { status: 503, message: "busy", code: "UNAVAILABLE", param: null } }),
    ).toBe('event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"busy"},"request_id":"01CALL"}\n\n');
  });
});

describe("errors of Messages", () => {
  test("keep status, type and the vendor's detailed code", () => {
    expect(messagesCodec.readFault(529, JSON.parse(textOf("error-overloaded.json")))).toEqual({
      status: 529,
      message: "Overloaded",
      code: "overloaded_error",
      param: null,
    });
    expect(messagesCodec.readFault(429, JSON.parse(textOf("error-spend-limit.json"))).code).toBe("enforced_spend_limit_reached");
    expect(messagesCodec.readFault(502, null)).toMatchObject({ status: 502, code: null });
    expect(messagesCodec.readFault(400, { error: "nonsense" })).toMatchObject({ status: 400 });
  });

  test("are written with the vendor's type for the status", () => {
    const types = Object.fromEntries(
      [400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 504, 529].map((status) => [status, errorTypeOf(status)]),
    );
    expect(types).toEqual({
      400: "invalid_request_error",
      401: "authentication_error",
      402: "billing_error",
      403: "permission_error",
      404: "not_found_error",
      408: "timeout_error",
      409: "conflict_error",
      413: "request_too_large",
      422: "invalid_request_error",
      429: "rate_limit_error",
      500: "api_error",
      502: "api_error",
      503: "overloaded_error",
      504: "timeout_error",
      529: "overloaded_error",
    });
    expect(messagesCodec.writeFault({ status: 400, message: "is wrong", code: "invalid_value", param: "tools[0]" }, "01CALL")).toEqual({
      type: "error",
      error: { type: "invalid_request_error", message: "tools[0]: is wrong" },
      request_id: "01CALL",
    });
  });

  test("with the generic type invalid_request_error get the type of their status", () => {
    const typeOf = (status: number, code: string) => {
      const { error } = messagesCodec.writeFault({ status, message: "is not there", code, param: null }, "01CALL") as any;
      return error.type;
    };
    expect([400, 404, 413].map((status) => typeOf(status, "invalid_request_error"))).toEqual([
      "invalid_request_error",
      "not_found_error",
      "request_too_large",
    ]);
    expect(typeOf(400, "billing_error")).toBe("billing_error");
  });
});
