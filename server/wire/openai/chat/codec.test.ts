import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ReplyContext } from "../../conversation/codec.ts";
import type { Candidate, ConversationEvent, ConversationReply } from "../../conversation/reply.ts";
import { DEFAULT_REQUEST } from "../../conversation/default-request.ts";
import type { ConversationRequest } from "../../conversation/request.ts";
import type { AssistantPart } from "../../conversation/conversation-parts.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import { cut, cuts } from "../arbitrary-cuts.ts";
import { replyOf } from "../arbitrary-events.ts";
import { chatCodec } from "./codec.ts";
import { fixturesOf } from "../fixture-files.ts";

const fixtures = fixturesOf(import.meta.url);

const CONTEXT: ReplyContext = { callId: "k", model: "gpt-5.6", created: 1700000000, request: {}, includeUsage: false };
const SCHEMA = { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false };
const WEATHER = { name: "get_weather", description: "Weather of a city.", schema: SCHEMA, strict: true };

describe("a chat request is read, and written back unchanged", () => {
  const expected: Record<string, ConversationRequest> = {
    "request-multipart.json": {
      ...DEFAULT_REQUEST,
      instructions: [{ kind: "text", text: "Answer in one word." }],
      turns: [
        {
          role: "user",
          parts: [
            { kind: "text", text: "What is this?" },
            { kind: "image", source: { base64: "iVBORw0KGgo=" }, mediaType: "image/png", detail: "low" },
            { kind: "image", source: { url: "https://example.com/cat.jpg" }, mediaType: null },
            { kind: "file", source: { base64: "JVBERi0xLjc=" }, mediaType: "application/pdf", name: "terms.pdf" },
            { kind: "audio", base64: "UklGRg==", mediaType: "audio/wav" },
          ],
        },
      ],
      maxOutputTokens: 64,
      temperature: 0.2,
      topP: 0.9,
      seed: 7,
      presencePenalty: 0.5,
      frequencyPenalty: -0.5,
      candidates: 2,
      endUser: "ada",
      stop: ["END", "\n"],
    },
    "request-tools.json": {
      ...DEFAULT_REQUEST,
      turns: [
        { role: "user", parts: [{ kind: "text", text: "Weather in Oslo and Rome?" }] },
        {
          role: "assistant",
          parts: [
            { kind: "tool_call", id: "call_a", name: "get_weather", arguments: '{"city":"Oslo"}' },
            { kind: "tool_call", id: "call_b", name: "get_weather", arguments: '{ "city": "Rome" }' },
          ],
        },
        {
          role: "user",
          parts: [
            { kind: "tool_result", callId: "call_a", toolName: null, content: [{ kind: "text", text: "-3" }], isError: false },
            { kind: "tool_result", callId: "call_b", toolName: null, content: [{ kind: "text", text: "14" }], isError: false },
          ],
        },
        { role: "user", parts: [{ kind: "text", text: "Be precise." }] },
        { role: "system", parts: [{ kind: "text", text: "Celsius." }] },
      ],
      tools: [WEATHER, { name: "now", description: null, schema: null, strict: null }],
      toolChoice: { kind: "subset", names: ["get_weather"], required: true },
      parallelToolCalls: true,
      reasoning: { effort: "low", budgetTokens: null, visible: null },
      stream: true,
    },
    "request-schema.json": {
      ...DEFAULT_REQUEST,
      turns: [
        { role: "user", parts: [{ kind: "text", text: "Oslo as JSON." }] },
        { role: "assistant", parts: [{ kind: "refusal", text: "I cannot." }] },
        { role: "user", parts: [{ kind: "text", text: "Try." }] },
      ],
      output: { kind: "schema", name: "place", description: "A place.", schema: SCHEMA, strict: true },
      tools: [WEATHER],
      toolChoice: { kind: "tool", name: "get_weather" },
    },
  };
  for (const [name, request] of Object.entries(expected)) {
    test(name, () => {
      expect(chatCodec.readRequest(fixtures.json(name))).toEqual({ request, dropped: [] });
      expect(chatCodec.writeRequest(request, { name: "gpt-5.6", maxOutputTokens: null })).toEqual({
        body: fixtures.json(name),
        dropped: [],
      });
    });
  }
});

test("cache marks are read from messages of every role", () => {
  const content = (text: string) => [{ type: "text", text, cache_control: { type: "ephemeral", ttl: "1h" } }];
  const messages = [
    { role: "system", content: content("s") },
    { role: "user", content: content("u") },
    { role: "assistant", content: content("a") },
    { role: "user", content: content("v") },
  ];
  const read = chatCodec.readRequest({ model: "m", messages });
  const parts =
    "request" in read ? [...read.request.instructions, ...read.request.turns.flatMap((turn): readonly object[] => turn.parts)] : [];
  expect(parts).toEqual(["s", "u", "a", "v"].map((text) => ({ kind: "text", text, cache: { ttl: "1h" } })));
});

const usage = (inputUncached: number, output: number, cacheRead = 0, cacheWrite = 0, reasoning = 0) => ({
  inputUncached,
  cacheRead,
  cacheWrite,
  cacheWriteHour: 0,
  output,
  reasoning,
  estimated: false,
});
/** As reported by OpenAI for the default tier. */
const served = (...counts: Parameters<typeof usage>) => ({ ...usage(...counts), serving: { tier: "standard", geo: null } });
const candidate = (parts: AssistantPart[], stop: Candidate["stop"], index = 0): Candidate => ({
  index,
  parts,
  stop,
  stopSequence: null,
  stopDetail: null,
});
const said = (text: string): AssistantPart => ({ kind: "text", text });
const CALLS: AssistantPart[] = [
  { kind: "tool_call", id: "call_a", name: "get_weather", arguments: '{"city":"Oslo"}' },
  { kind: "tool_call", id: "call_b", name: "get_weather", arguments: '{"city":"Rome"}' },
];
const ANSWERS: Record<string, ConversationReply> = {
  text: { id: "chatcmpl-B1", candidates: [candidate([said("Grüße 👋")], "end")], usage: served(26, 12, 1024, 50, 4) },
  candidates: {
    id: "chatcmpl-B1",
    candidates: [candidate([said("one")], "end"), candidate([said("tw")], "length", 1)],
    usage: served(9, 3),
  },
  tools: { id: "chatcmpl-B1", candidates: [candidate([said("I look."), ...CALLS], "tool_call")], usage: served(30, 20) },
  refusal: {
    id: "chatcmpl-B1",
    candidates: [candidate([{ kind: "refusal", text: "I can't help with that." }], "refusal")],
    usage: served(9, 7),
  },
  filter: { id: "chatcmpl-B1", candidates: [candidate([said("Once")], "filtered")], usage: served(9, 1) },
};
const VENDORS: Record<string, ConversationReply> = {
  "vendor-deepseek": {
    id: "ds-1",
    candidates: [candidate([{ kind: "reasoning", text: "2+2", redacted: false }, said("4")], "end")],
    usage: usage(2, 6, 8, 0, 5),
  },
  "vendor-mistral": {
    id: "ms-1",
    candidates: [candidate([{ kind: "reasoning", text: "2+2", redacted: false }, said("4")], "end")],
    usage: usage(10, 6),
  },
};

function streamed(wire: string, sizes: readonly number[]): ConversationReply {
  const reader = chatCodec.streamReader();
  const events = cut(wire, sizes).flatMap((piece) => reader.push(piece));
  const end = reader.end();
  expect(end.complete).toBe(true);
  return replyOf([...events, ...end.events]);
}

describe("a chat answer", () => {
  for (const [name, reply] of Object.entries(ANSWERS)) {
    test(`${name}, complete: is read, and written with members that the vendor's own has`, () => {
      const fixture = fixtures.json(`reply-${name}.json`);
      expect(chatCodec.readReply(fixture)).toEqual(reply);
      expect(fixture).toMatchObject(chatCodec.writeReply(reply, CONTEXT) as object);
    });
    test(`${name}, streamed: is equal however its bytes are cut`, () => {
      fc.assert(
        fc.property(cuts, (sizes) => expect(streamed(fixtures.text(`stream-${name}.sse`), sizes)).toEqual(reply)),
        { numRuns: 20 },
      );
    });
  }
  for (const [name, reply] of Object.entries(VENDORS)) {
    test(`${name}: is read, complete and streamed`, () => {
      expect(chatCodec.readReply(fixtures.json(`${name}-reply.json`))).toEqual(reply);
      fc.assert(
        fc.property(cuts, (sizes) => expect(streamed(fixtures.text(`${name}-stream.sse`), sizes)).toEqual(reply)),
        { numRuns: 20 },
      );
    });
  }

  test("of Groq has its usage under x_groq", () => {
    expect(streamed(fixtures.text("vendor-groq-stream.sse"), [17])).toEqual({
      id: "gq-1",
      candidates: [candidate([{ kind: "reasoning", text: "2+2", redacted: false }, said("4")], "end")],
      usage: usage(10, 6),
    });
  });

  test("with complete tool calls all at index 0 has them separated by ID", () => {
    const [only] = streamed(fixtures.text("vendor-calls-at-one-index.sse"), [64]).candidates;
    expect(only?.stop).toBe("tool_call");
    expect(only?.parts).toEqual([
      { kind: "tool_call", id: "a", name: "f", arguments: '{"n":1}' },
      { kind: "tool_call", id: "b", name: "f", arguments: '{"n":2}' },
    ]);
  });

  test("with null arguments, as some servers write for none, has an empty object", () => {
    const called = (args: string) => ({ id: "a", type: "function", function: { name: "f", arguments: args } });
    const args = (reply: ConversationReply | null) =>
      reply?.candidates[0]?.parts.map((part) => part.kind === "tool_call" && part.arguments);
    const chunk = (delta: object, finish_reason: string | null = null) =>
      `data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
    for (const [sent, meant] of [
      ["null", "{}"],
      [" null\n", "{}"],
      ["nul", "nul"],
      ['{"n":null}', '{"n":null}'],
    ] as const) {
      expect(
        args(
          chatCodec.readReply({ id: "c", choices: [{ index: 0, message: { tool_calls: [called(sent)] }, finish_reason: "tool_calls" }] }),
        ),
      ).toEqual([meant]);
      const fragments = [...sent].map((letter) => chunk({ tool_calls: [{ index: 0, function: { arguments: letter } }] }));
      expect(
        args(streamed([chunk({ tool_calls: [{ index: 0, ...called("") }] }), ...fragments, chunk({}, "tool_calls")].join(""), [64])),
      ).toEqual([meant]);
    }
  });

  test("with tool calls without IDs gets unique IDs, equal when complete and streamed", () => {
    const whole = chatCodec.readReply(fixtures.json("vendor-calls-without-id.json"));
    expect(streamed(fixtures.text("vendor-calls-without-index.sse"), [64])).toEqual(whole as ConversationReply);
    const calls = (whole?.candidates[0]?.parts ?? []) as unknown as { id: string; arguments: string }[];
    expect(calls.map((call) => call.arguments)).toEqual(['{"n":1}', "{}"]);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
    expect(calls[0]?.id).toMatch(/^call_[0-9a-f]{24}$/);
  });

  test("with the older function_call has it read as a tool call, and only once if given in both forms", () => {
    const older = { name: "f", arguments: '{"n":1}' };
    const chunk = (delta: object, finish_reason: string | null = null) =>
      `data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
    const whole = chatCodec.readReply({
      id: "c",
      choices: [{ index: 0, message: { role: "assistant", content: null, function_call: older }, finish_reason: "function_call" }],
    });
    expect(whole?.candidates[0]).toMatchObject({ stop: "tool_call", parts: [{ kind: "tool_call", ...older }] });
    const fragments = ['{"n', '":1}'].map((piece) => chunk({ function_call: { arguments: piece } }));
    const wire = [chunk({ function_call: { name: "f", arguments: "" } }), ...fragments, chunk({}, "function_call")].join("");
    expect(streamed(wire, [64])).toEqual(whole as ConversationReply);
    const both = { tool_calls: [{ index: 0, id: "a", type: "function", function: older }], function_call: older };
    const once = [{ kind: "tool_call", id: "a", ...older }];
    expect(chatCodec.readReply({ choices: [{ message: both, finish_reason: "tool_calls" }] })?.candidates[0]?.parts).toMatchObject(once);
    expect(streamed(chunk(both) + chunk({}, "tool_calls"), [64]).candidates[0]?.parts).toMatchObject(once);
  });

  test("is null for a body that is no chat completion", () => {
    expect(chatCodec.readReply({ output: [] })).toBeNull();
  });
});

describe("a chat answer streamed to the caller", () => {
  const EVENTS: ConversationEvent[] = [
    { kind: "start", id: null },
    { kind: "part_start", candidate: 0, part: 0, type: "reasoning" },
    { kind: "delta", candidate: 0, part: 0, text: "hm" },
    { kind: "signature", candidate: 0, part: 0, signature: { family: "anthropic", value: "SEAL" }, redacted: false },
    { kind: "part_end", candidate: 0, part: 0 },
    { kind: "part_start", candidate: 0, part: 1, type: "text" },
    { kind: "delta", candidate: 0, part: 1, text: "I look." },
    { kind: "part_start", candidate: 0, part: 2, type: "tool_call", id: "same", name: "f" },
    { kind: "delta", candidate: 0, part: 2, text: '{"a"' },
    { kind: "part_end", candidate: 0, part: 1 },
    { kind: "part_start", candidate: 0, part: 3, type: "tool_call", id: "same", name: "f" },
    { kind: "delta", candidate: 0, part: 2, text: ":1}" },
    { kind: "part_end", candidate: 0, part: 2 },
    { kind: "part_end", candidate: 0, part: 3 },
    { kind: "stop", candidate: 0, reason: "tool_call", stopSequence: null, stopDetail: null },
    { kind: "usage", usage: usage(3, 2) },
  ];
  const run = (context: ReplyContext) => {
    const writer = chatCodec.streamWriter(context);
    const body = EVENTS.map((event) => writer.write(event)).join("");
    return { body, last: writer.close() };
  };
  const chunks = (wire: string) =>
    wire
      .split("\n\n")
      .filter((frame) => frame.startsWith("data: {"))
      .map(
        (frame) =>
          JSON.parse(frame.slice(6)) as { id: string; usage?: unknown; choices: { delta: JsonObject; finish_reason: string | null }[] },
      );

  test("opens with the role, numbers tool calls, keeps every fragment, and ends with the finish reason", () => {
    const sent = chunks(run(CONTEXT).body);
    expect(sent.map(({ choices }) => choices[0]?.delta)).toEqual([
      { role: "assistant", content: "" },
      { reasoning_content: "hm" },
      { content: "I look." },
      { tool_calls: [{ index: 0, id: "same", type: "function", function: { name: "f", arguments: "" } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{"a"' } }] },
      { tool_calls: [{ index: 1, id: "same_2", type: "function", function: { name: "f", arguments: "" } }] },
      { tool_calls: [{ index: 0, function: { arguments: ":1}" } }] },
      { tool_calls: [{ index: 1, function: { arguments: "{}" } }] },
      {},
    ]);
    expect(sent.map(({ choices }) => choices[0]?.finish_reason)).toEqual([null, null, null, null, null, null, null, null, "tool_calls"]);
    expect(new Set(sent.map(({ id }) => id))).toEqual(new Set(["chatcmpl-k"]));
    expect(run(CONTEXT).body).not.toContain("SEAL");
  });

  test("sends usage last, and only if requested", () => {
    expect(run(CONTEXT).last).toBe("data: [DONE]\n\n");
    expect(chunks(run(CONTEXT).body).some((chunk) => "usage" in chunk)).toBe(false);
    const asked = { ...CONTEXT, includeUsage: true };
    expect(chunks(run(asked).body).every((chunk) => chunk.usage === null)).toBe(true);
    expect(chunks(run(asked).last)).toMatchObject([{ choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } }]);
  });

  test("sends a fault as the vendor's error chunk", () => {
    const wire = chatCodec
      .streamWriter(CONTEXT)
      .write({ kind: "fault", fault: { status: 503, message: "busy", code: "overloaded", param: null } });
    expect(JSON.parse(wire.slice(6))).toEqual({ error: { message: "busy", type: "server_error", param: null, code: "overloaded" } });
  });

  test("shows the provider's reason for a refusal without text", () => {
    const refused: ConversationReply = { id: "x", candidates: [{ ...candidate([], "refusal"), stopDetail: "cyber" }], usage: null };
    expect(chatCodec.writeReply(refused, CONTEXT)).toMatchObject({
      choices: [{ message: { content: null, refusal: "cyber" }, finish_reason: "content_filter", stop_detail: "cyber" }],
    });
  });
});
