import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ReplyContext } from "../conversation/codec.ts";
import type { Candidate, ConversationEvent, ConversationReply } from "../conversation/reply.ts";
import { DEFAULT_REQUEST } from "../conversation/default-request.ts";
import type { ConversationRequest, Turn } from "../conversation/request.ts";
import type { AssistantPart } from "../conversation/conversation-parts.ts";
import type { JsonObject } from "../document.ts";
import { cut, cuts, mutated } from "./arbitrary-cuts.ts";
import { replyOf } from "./arbitrary-events.ts";
import { chatCodec } from "./chat-codec.ts";
import { responsesCodec } from "../responses/responses-codec.ts";
import { fixturesOf } from "./fixture-files.ts";

const fixtures = fixturesOf(import.meta.url);
const CONTEXT: ReplyContext = { callId: "k", model: "gpt-5.6", created: 1700000000, request: {}, includeUsage: false };
const SCHEMA = { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false };
const WEATHER = { name: "get_weather", description: "Weather of a city.", schema: SCHEMA, strict: true };
const hello = { role: "user" as const, parts: [{ kind: "text" as const, text: "hi" }] };

describe("a chat request is the conversation it means, and is written as it came", () => {
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

test("cache marks of every speaker are read, the assistant's too", () => {
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
  text: { id: "chatcmpl-B1", candidates: [candidate([said("Grüße 👋")], "end")], usage: usage(26, 12, 1024, 50, 4) },
  candidates: {
    id: "chatcmpl-B1",
    candidates: [candidate([said("one")], "end"), candidate([said("tw")], "length", 1)],
    usage: usage(9, 3),
  },
  tools: { id: "chatcmpl-B1", candidates: [candidate([said("I look."), ...CALLS], "tool_call")], usage: usage(30, 20) },
  refusal: {
    id: "chatcmpl-B1",
    candidates: [candidate([{ kind: "refusal", text: "I can't help with that." }], "refusal")],
    usage: usage(9, 7),
  },
  filter: { id: "chatcmpl-B1", candidates: [candidate([said("Once")], "filtered")], usage: usage(9, 1) },
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
    test(`${name}, whole: read, and written with nothing the vendor's own would not have`, () => {
      const fixture = fixtures.json(`reply-${name}.json`);
      expect(chatCodec.readReply(fixture)).toEqual(reply);
      expect(fixture).toMatchObject(chatCodec.writeReply(reply, CONTEXT) as object);
    });
    test(`${name}, streamed: the same answer however its bytes were cut`, () => {
      fc.assert(
        fc.property(cuts, (sizes) => expect(streamed(fixtures.text(`stream-${name}.sse`), sizes)).toEqual(reply)),
        { numRuns: 20 },
      );
    });
  }
  for (const [name, reply] of Object.entries(VENDORS)) {
    test(`${name}: read whole and streamed`, () => {
      expect(chatCodec.readReply(fixtures.json(`${name}-reply.json`))).toEqual(reply);
      fc.assert(
        fc.property(cuts, (sizes) => expect(streamed(fixtures.text(`${name}-stream.sse`), sizes)).toEqual(reply)),
        { numRuns: 20 },
      );
    });
  }

  test("Groq's usage stands under its own name", () => {
    expect(streamed(fixtures.text("vendor-groq-stream.sse"), [17])).toEqual({
      id: "gq-1",
      candidates: [candidate([{ kind: "reasoning", text: "2+2", redacted: false }, said("4")], "end")],
      usage: usage(10, 6),
    });
  });

  test("whole calls that all come at index 0 are told apart by their ids", () => {
    const [only] = streamed(fixtures.text("vendor-calls-at-one-index.sse"), [64]).candidates;
    expect(only?.stop).toBe("tool_call");
    expect(only?.parts).toEqual([
      { kind: "tool_call", id: "a", name: "f", arguments: '{"n":1}' },
      { kind: "tool_call", id: "b", name: "f", arguments: '{"n":2}' },
    ]);
  });

  test("arguments of null, as some servers write them for a tool that takes none, are the empty object", () => {
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

  test("calls without ids get the same ones whole and streamed, each its own", () => {
    const whole = chatCodec.readReply(fixtures.json("vendor-calls-without-id.json"));
    expect(streamed(fixtures.text("vendor-calls-without-index.sse"), [64])).toEqual(whole as ConversationReply);
    const calls = (whole?.candidates[0]?.parts ?? []) as unknown as { id: string; arguments: string }[];
    expect(calls.map((call) => call.arguments)).toEqual(['{"n":1}', "{}"]);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
    expect(calls[0]?.id).toMatch(/^call_[0-9a-f]{24}$/);
  });

  test("what is no chat completion is none", () => {
    expect(chatCodec.readReply({ output: [] })).toBeNull();
  });
});

describe("a chat answer as it is streamed to the caller", () => {
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

  test("opens with the role, numbers its calls, loses no first fragment, and ends with the reason", () => {
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

  test("usage goes out last, and only to who asked", () => {
    expect(run(CONTEXT).last).toBe("data: [DONE]\n\n");
    expect(chunks(run(CONTEXT).body).some((chunk) => "usage" in chunk)).toBe(false);
    const asked = { ...CONTEXT, includeUsage: true };
    expect(chunks(run(asked).body).every((chunk) => chunk.usage === null)).toBe(true);
    expect(chunks(run(asked).last)).toMatchObject([{ choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } }]);
  });

  test("a fault is the vendor's error frame", () => {
    const wire = chatCodec
      .streamWriter(CONTEXT)
      .write({ kind: "fault", fault: { status: 503, message: "busy", code: "overloaded", param: null } });
    expect(JSON.parse(wire.slice(6))).toEqual({ error: { message: "busy", type: "server_error", param: null, code: "overloaded" } });
  });

  test("a refusal without a word of the model's shows the provider's", () => {
    const refused: ConversationReply = { id: "x", candidates: [{ ...candidate([], "refusal"), stopDetail: "cyber" }], usage: null };
    expect(chatCodec.writeReply(refused, CONTEXT)).toMatchObject({
      choices: [{ message: { content: null, refusal: "cyber" }, finish_reason: "content_filter", stop_detail: "cyber" }],
    });
  });
});

describe("a provider's failure", () => {
  test.each([
    [429, "error.json", { message: "Rate limit reached for gpt-5.6.", code: "rate_limit_exceeded", param: null }],
    [
      400,
      "error-context.json",
      { message: "This model's maximum context length is 8 tokens.", code: "context_length_exceeded", param: "messages" },
    ],
    [404, "vendor-vllm-error.json", { message: "The model does not exist.", code: "404", param: null }],
    [
      422,
      "vendor-mistral-error.json",
      { message: '[{"type":"extra_forbidden","loc":["body","seed"],"msg":"Extra inputs are not permitted"}]', code: null, param: null },
    ],
  ])("%d %s", (status, name, expected) => {
    const fault = chatCodec.readFault(status, fixtures.json(name));
    expect(fault).toEqual({ status, ...expected });
    expect(chatCodec.readFault(status, chatCodec.writeFault(fault))).toEqual({ ...fault, code: fault.code ?? "invalid_request_error" });
  });

  test("a body that says nothing still has a message", () => {
    expect(chatCodec.readFault(500, null).message).not.toBe("");
  });

  test("inside a stream it ends the reading", () => {
    const reader = chatCodec.streamReader();
    const bytes = new TextEncoder().encode(
      `data: {"id":"x","choices":[{"index":0,"delta":{"content":"a"}}]}\n\ndata: ${JSON.stringify(fixtures.json("error.json"))}\n\ndata: {"choices":[{"delta":{"content":"b"}}]}\n\n`,
    );
    expect(reader.push(bytes).at(-1)).toEqual({
      kind: "fault",
      fault: { status: 429, message: "Rate limit reached for gpt-5.6.", code: "rate_limit_exceeded", param: null },
    });
    expect(reader.end()).toEqual({ events: [], complete: false });
  });
});

describe("what a chat request asks for and other formats cannot say", () => {
  const read = (more: JsonObject) => chatCodec.readRequest({ model: "m", messages: [{ role: "user", content: "hi" }], ...more });
  test.each([
    ["functions", { functions: [{ name: "f" }] }],
    ["web_search_options", { web_search_options: {} }],
    ["logit_bias", { logit_bias: { "1": 1 } }],
    ["modalities", { modalities: ["text", "audio"] }],
    ["tools[0]", { tools: [{ type: "custom", custom: { name: "x" } }] }],
    ["tool_choice", { tool_choice: { type: "custom", custom: { name: "x" } } }],
    ["reasoning_effort", { reasoning_effort: "huge" }],
    ["response_format", { response_format: { type: "grammar" } }],
    [
      "messages[0].tool_calls[0]",
      { messages: [{ role: "assistant", tool_calls: [{ id: "a", type: "custom", custom: { name: "x", input: "" } }] }] },
    ],
    ["messages[0].audio", { messages: [{ role: "assistant", audio: { id: "a" } }] }],
    ["messages[0].content[0]", { messages: [{ role: "user", content: [{ type: "video_url", video_url: {} }] }] }],
    [
      "messages[0].content[0].image_url.url",
      { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "data:text/plain,hi" } }] }] },
    ],
    ["messages[0].role", { messages: [{ role: "function", name: "f", content: "1" }] }],
  ] as [string, JsonObject][])("%s is refused by name", (field, more) => {
    const result = read(more);
    expect("unsupported" in result ? result.unsupported.map((problem) => problem.field) : []).toEqual([field]);
  });

  test("what does no harm is dropped by name, and what asks for nothing is not mentioned", () => {
    expect(
      read({
        metadata: { a: "b" },
        service_tier: "flex",
        store: false,
        prompt_cache_key: "k",
        verbosity: "low",
        logit_bias: {},
        stop: null,
        functions: [],
      }),
    ).toMatchObject({ dropped: ["metadata", "service_tier", "store", "prompt_cache_key", "verbosity"] });
  });

  test("fields of the wrong type count as absent", () => {
    expect(read({ stop: 5, seed: "x", n: -1, response_format: "json", tools: [7], user: 8, reasoning_effort: null })).toMatchObject({
      request: NOTHING_SAID_WITH_HELLO,
    });
  });
});

const NOTHING_SAID_WITH_HELLO = { ...DEFAULT_REQUEST, turns: [hello] };

describe("what other formats ask for and chat cannot say", () => {
  const write = (request: Partial<ConversationRequest>) =>
    chatCodec.writeRequest({ ...DEFAULT_REQUEST, turns: [hello], ...request }, { name: "m", maxOutputTokens: null });
  test("is dropped where that does no harm", () => {
    expect(write({ topK: 5, instructions: [{ kind: "text", text: "x", cache: { ttl: "1h" } }] })).toMatchObject({
      dropped: ["cache", "top_k"],
    });
  });
  test.each([
    ["image", { turns: [{ role: "user", parts: [{ kind: "image", source: { fileId: "f" }, mediaType: null }] }] }],
    ["file", { turns: [{ role: "user", parts: [{ kind: "file", source: { url: "https://x/a.pdf" }, mediaType: null, name: null }] }] }],
    ["audio", { turns: [{ role: "user", parts: [{ kind: "audio", base64: "", mediaType: "audio/ogg" }] }] }],
    ["stop", { stop: ["a", "b", "c", "d", "e"] }],
    ["logprobs", { logprobs: 0 }],
    ["messages", { turns: [] }],
  ] as [string, Partial<ConversationRequest>][])("%s is refused", (feature, request) => {
    const result = write(request);
    expect("unsupported" in result ? result.unsupported.map((problem) => problem.feature) : []).toEqual([feature] as never);
  });

  test("results come right behind their calls, and what a tool message cannot hold follows as the user's", () => {
    const result = write({
      turns: [
        {
          role: "assistant",
          parts: [
            { kind: "reasoning", text: "secret", redacted: false, signature: { family: "anthropic", value: "SEAL" } },
            { kind: "tool_call", id: "a", name: "f", arguments: "{}", signature: { family: "gemini", value: "SEAL" } },
          ],
        },
        {
          role: "user",
          parts: [
            { kind: "text", text: "and?" },
            {
              kind: "tool_result",
              callId: "a",
              toolName: null,
              content: [
                { kind: "text", text: "1" },
                { kind: "image", source: { base64: "AA==" }, mediaType: "image/png" },
              ],
              isError: false,
            },
          ],
        },
      ],
    });
    expect(result).toMatchObject({
      body: {
        messages: [
          { role: "assistant", content: null, tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }] },
          { role: "tool", tool_call_id: "a", content: "1" },
          {
            role: "user",
            content: [
              { type: "text", text: "Returned by tool call a:" },
              { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } },
              { type: "text", text: "and?" },
            ],
          },
        ],
      },
    });
    expect(JSON.stringify(result)).not.toContain("SEAL");
  });

  test("results of calls made together stand together, whatever turns they came in", () => {
    const result = (callId: string): Turn => ({
      role: "user",
      parts: [
        { kind: "tool_result", callId, toolName: null, content: [{ kind: "text", text: callId }], isError: false },
        { kind: "text", text: `behind ${callId}` },
      ],
    });
    const calls: Turn = { role: "assistant", parts: ["a", "b"].map((id) => ({ kind: "tool_call", id, name: "f", arguments: "{}" })) };
    const { body } = write({ turns: [hello, calls, result("a"), result("b")] }) as unknown as {
      body: { messages: { role: string; content: unknown }[] };
    };
    expect(body.messages.slice(2).map(({ role, content }) => [role, content])).toEqual([
      ["tool", "a"],
      ["tool", "b"],
      ["user", "behind a"],
      ["user", "behind b"],
    ]);
  });

  test("reasoning counted in tokens becomes an effort", () => {
    const efforts = [1024, 8192, 32_000, -1].map((budgetTokens) => {
      const written = write({ reasoning: { effort: null, budgetTokens, visible: null } });
      return "body" in written ? written.body.reasoning_effort : "refused";
    });
    expect(efforts).toEqual(["low", "medium", "high", undefined]);
  });

  test.each([
    ["gpt-5.6", "none"],
    ["openai/gpt-5.1-2025-11-13", "none"],
    ["gpt-5-mini-2025-08-07", "minimal"],
    ["gpt-5.2-pro", undefined],
    ["gpt-5-chat-latest", undefined],
    ["gpt-4o", undefined],
    ["o3", undefined],
    ["mistral-large-latest", undefined],
  ])("no reasoning is asked of %s with the effort %p", (name, effort) => {
    for (const [codec, members] of [
      [chatCodec, { reasoning_effort: effort }],
      [responsesCodec, { reasoning: { effort } }],
    ] as const) {
      const written = codec.writeRequest(
        { ...DEFAULT_REQUEST, turns: [hello], reasoning: { effort: "none", budgetTokens: 0, visible: null } },
        { name, maxOutputTokens: null },
      );
      if (effort === undefined) {
        expect(written).toMatchObject({ dropped: ["reasoning"] });
        expect(Object.keys("body" in written ? written.body : {})).not.toContain(Object.keys(members)[0]);
      } else expect(written).toMatchObject({ body: members, dropped: [] });
    }
  });

  test("an effort of none that the caller named is passed on to any model", () => {
    expect(write({ reasoning: { effort: "none", budgetTokens: null, visible: null } })).toMatchObject({
      body: { reasoning_effort: "none" },
      dropped: [],
    });
  });
});

describe("nonsense", () => {
  const all = [
    ...["request-multipart", "request-tools", "request-schema", "reply-text", "reply-tools", "vendor-mistral-reply", "error"].map((name) =>
      fixtures.text(`${name}.json`),
    ),
  ];
  test("never makes the readers throw", () => {
    fc.assert(
      fc.property(fc.constantFrom(...all), fc.infiniteStream(fc.nat()), fc.jsonValue(), (source, dice, junk) => {
        const body = mutated(JSON.parse(source) as JsonObject, dice, junk);
        chatCodec.readRequest(body);
        chatCodec.readReply(body);
        chatCodec.readFault(500, body);
      }),
      { numRuns: 300 },
    );
  });

  test("in a stream's bytes never makes the reader throw", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("stream-tools.sse", "vendor-mistral-stream.sse", "stream-candidates.sse"),
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 8 }),
        cuts,
        (name, edits, sizes) => {
          const bytes = new TextEncoder().encode(fixtures.text(name));
          for (const [at, byte] of edits) bytes[at % bytes.length] = byte;
          const reader = chatCodec.streamReader();
          for (const piece of cut(new TextDecoder().decode(bytes), sizes)) reader.push(piece);
          reader.end();
        },
      ),
      { numRuns: 200 },
    );
  });

  test("in a stream's chunks never breaks the grammar of what is read", () => {
    const chunks = ["tools", "candidates", "refusal"]
      .flatMap((name) => fixtures.text(`stream-${name}.sse`).split("\n\n"))
      .filter((frame) => frame.startsWith("data: {"));
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...chunks), { maxLength: 20 }),
        fc.infiniteStream(fc.nat()),
        fc.jsonValue(),
        (frames, dice, junk) => {
          const reader = chatCodec.streamReader();
          const events = frames.flatMap((frame) =>
            reader.push(
              new TextEncoder().encode(`data: ${JSON.stringify(mutated(JSON.parse(frame.slice(6)) as JsonObject, dice, junk))}\n\n`),
            ),
          );
          events.push(...reader.push(new TextEncoder().encode("data: [DONE]\n\n")));
          if (reader.end().complete) replyOf(events);
        },
      ),
      { numRuns: 300 },
    );
  });
});
