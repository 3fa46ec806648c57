import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { DEFAULT_REQUEST } from "../../conversation/default-request.ts";
import type { ConversationRequest, Turn } from "../../conversation/request.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import { cut, cuts, mutated } from "../arbitrary-cuts.ts";
import { replyOf } from "../arbitrary-events.ts";
import { chatCodec } from "./codec.ts";
import { responsesCodec } from "../../responses/responses-codec.ts";
import { fixturesOf } from "../fixture-files.ts";

const fixtures = fixturesOf(import.meta.url);

const hello = { role: "user" as const, parts: [{ kind: "text" as const, text: "hi" }] };

describe("a provider's error in chat completions", () => {
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
  ])("with status %d (%s) is read, written and read again", (status, name, expected) => {
    const fault = chatCodec.readFault(status, fixtures.json(name));
    expect(fault).toEqual({ status, ...expected });
    expect(chatCodec.readFault(status, chatCodec.writeFault(fault, "01CALL"))).toEqual({
      ...fault,
      code: fault.code ?? "invalid_request_error",
    });
  });

  test("without a body still has a message", () => {
    expect(chatCodec.readFault(500, null).message).not.toBe("");
  });

  test("within a stream ends the reading", () => {
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

describe("what other formats do not support of a chat request", () => {
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

  test("harmless members are dropped by name, and empty ones are not mentioned", () => {
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
    expect(read({ metadata: {}, prediction: null, plugins: [] })).toMatchObject({ dropped: [] });
    const tool = (more: object, inner: object) => ({
      type: "function",
      function: { name: "f", parameters: {}, strict: null, ...inner },
      ...more,
    });
    expect(read({ tools: [tool({ cache_control: { type: "ephemeral" }, x_examples: [] }, { output_schema: null })] })).toMatchObject({
      dropped: [],
    });
    expect(read({ tools: [tool({}, {}), tool({ allowed_callers: ["code"] }, { output_schema: { type: "object" } })] })).toMatchObject({
      dropped: ["tools[1].allowed_callers", "tools[1].function.output_schema"],
    });
  });

  test("members of the wrong type count as missing", () => {
    expect(read({ stop: 5, seed: "x", n: -1, response_format: "json", tools: [7], user: 8, reasoning_effort: null })).toMatchObject({
      request: NOTHING_SAID_WITH_HELLO,
    });
  });
});

const NOTHING_SAID_WITH_HELLO = { ...DEFAULT_REQUEST, turns: [hello] };

describe("writing a request of another format as a chat request", () => {
  const write = (request: Partial<ConversationRequest>) =>
    chatCodec.writeRequest({ ...DEFAULT_REQUEST, turns: [hello], ...request }, { name: "m", maxOutputTokens: null });
  test("drops and reports what does no harm", () => {
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
  ] as [string, Partial<ConversationRequest>][])("refuses %s", (feature, request) => {
    const result = write(request);
    expect("unsupported" in result ? result.unsupported.map((problem) => problem.feature) : []).toEqual([feature] as never);
  });

  test("puts tool results directly after their calls, and their images into a user message", () => {
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

  test("keeps results of parallel calls together, even from separate turns", () => {
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

  test("turns a thinking budget into a reasoning effort", () => {
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
  ])("writes disabled reasoning for %s as effort %p", (name, effort) => {
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

  test("passes an effort of none set by the caller to any model", () => {
    expect(write({ reasoning: { effort: "none", budgetTokens: null, visible: null } })).toMatchObject({
      body: { reasoning_effort: "none" },
      dropped: [],
    });
  });
});

describe("invalid input in chat completions", () => {
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

  test("in the bytes of a stream never makes the reader throw", () => {
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

  test("in the chunks of a stream never breaks the order of the events read", () => {
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
