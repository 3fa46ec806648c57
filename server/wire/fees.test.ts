import { expect, test } from "bun:test";
import { readGeminiReply } from "./gemini/gemini-reply.ts";
import { GeminiArrayStream, GeminiStream } from "./gemini/gemini-stream.ts";
import { GeminiStreamReader } from "./gemini/stream-reader.ts";
import { readGeminiUsage, writeGeminiUsage } from "./gemini/usage.ts";
import { MessagesStream } from "./messages/messages-stream.ts";
import { readMessagesUsage as messagesUsage } from "./messages/usage.ts";
import { offeredSearches } from "./offered-searches.ts";
import { chatUsageMember } from "./openai/usage-member.ts";
import { readChatUsage as chatUsage } from "./openai/usage.ts";
import { ResponsesStream } from "./responses/responses-stream.ts";
import { usageOfResponse } from "./responses/usage.ts";

/** Usage that vendors report beyond plain tokens, in each vendor's format. */
test("audio tokens of a chat completion are counted", () => {
  const usage = {
    prompt_tokens: 100,
    completion_tokens: 50,
    prompt_tokens_details: { cached_tokens: 20, audio_tokens: 60 },
    completion_tokens_details: { audio_tokens: 30 },
  };
  expect(chatUsage(usage)).toMatchObject({ inputUncached: 80, audioInput: 60, output: 50, audioOutput: 30 });
  // Audio tokens cannot exceed the uncached input.
  expect(chatUsage({ ...usage, prompt_tokens_details: { cached_tokens: 90, audio_tokens: 60 } })).toMatchObject({
    inputUncached: 10,
    audioInput: 10,
  });
  expect(chatUsage({ prompt_tokens: 1, completion_tokens: 1 })).not.toHaveProperty("audioInput");
});

test("audio tokens of Gemini are counted without cached ones", () => {
  const details = (tokenCount: number) => [
    { modality: "TEXT", tokenCount: 10 },
    { modality: "AUDIO", tokenCount },
  ];
  const usage = {
    promptTokenCount: 100,
    cachedContentTokenCount: 40,
    candidatesTokenCount: 30,
    promptTokensDetails: details(90),
    cacheTokensDetails: details(40),
    candidatesTokensDetails: details(20),
  };
  expect(readGeminiUsage(usage)).toMatchObject({ inputUncached: 60, audioInput: 50, output: 30, audioOutput: 20 });
  expect(readGeminiUsage({ promptTokenCount: 5, promptTokensDetails: [{ modality: "TEXT", tokenCount: 5 }] })).not.toHaveProperty(
    "audioInput",
  );
});

test("audio tokens are reported in formats that have separate counts for them", () => {
  const usage = {
    inputUncached: 80,
    cacheRead: 20,
    cacheWrite: 0,
    cacheWriteHour: 0,
    output: 50,
    reasoning: 5,
    audioInput: 60,
    audioOutput: 30,
    estimated: false,
  };
  expect(chatUsage(chatUsageMember(usage))).toEqual(usage);
  expect(readGeminiUsage(writeGeminiUsage(usage))).toEqual(usage);
});

test("web searches by Anthropic are counted", () => {
  expect(
    messagesUsage({ input_tokens: 5, output_tokens: 5, server_tool_use: { web_search_requests: 2, web_fetch_requests: 1 } }),
  ).toMatchObject({ webSearches: 2 });
  expect(messagesUsage({ input_tokens: 5, output_tokens: 5, server_tool_use: null })).not.toHaveProperty("webSearches");
});

test("web searches in a Responses answer are counted, complete and streamed", () => {
  const search = (type: string) => ({ type: "web_search_call", id: "ws", status: "completed", action: { type } });
  const response = {
    output: [search("search"), search("open_page"), { type: "message", content: [] }, search("search")],
    usage: { input_tokens: 5, output_tokens: 5 },
  };
  expect(usageOfResponse(response)).toMatchObject({ inputUncached: 5, webSearches: 2 });
  const stream = new ResponsesStream();
  stream.push(new TextEncoder().encode(`event: response.completed\ndata: ${JSON.stringify({ type: "response.completed", response })}\n\n`));
  stream.end();
  expect(stream.usage).toMatchObject({ webSearches: 2 });
});

test("Google searches are counted by distinct query, and once per prompt for older models", () => {
  const grounded = (modelVersion: string, ...queries: string[]) => ({
    candidates: [{ content: { parts: [{ text: "Found." }] }, finishReason: "STOP", groundingMetadata: { webSearchQueries: queries } }],
    usageMetadata: { promptTokenCount: 5, totalTokenCount: 9 },
    modelVersion,
  });
  const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
  expect(readGeminiReply(bytes(grounded("gemini-3.5-flash", "a", "b", "", "a")))?.usage).toMatchObject({
    inputUncached: 5,
    webSearches: 2,
  });
  expect(readGeminiReply(bytes(grounded("gemini-2.5-pro", "a", "b")))?.usage).toMatchObject({ webSearches: 1 });
  expect(readGeminiReply(bytes(grounded("gemini-3.5-flash")))?.usage).not.toHaveProperty("webSearches");
  // In a stream, every chunk may repeat it; it is counted once, translated or not.
  const pieces = [
    { candidates: [{ content: { parts: [{ text: "Fo" }] } }], usageMetadata: { promptTokenCount: 5 }, modelVersion: "gemini-3.5-flash" },
    {
      candidates: [{ content: { parts: [{ text: "und" }] }, grounding_metadata: { web_search_queries: ["a", "b"] } }],
      usageMetadata: { promptTokenCount: 5 },
    },
    grounded("gemini-3.5-flash", "b", "c"),
  ];
  const events = new TextEncoder().encode(pieces.map((piece) => `data: ${JSON.stringify(piece)}\r\n\r\n`).join(""));
  for (const size of [events.byteLength, 7]) {
    const stream = new GeminiStream();
    const reader = new GeminiStreamReader();
    let last: unknown = null;
    for (let at = 0; at < events.byteLength; at += size) {
      stream.push(events.slice(at, at + size));
      for (const event of reader.push(events.slice(at, at + size))) if (event.kind === "usage") last = event.usage;
    }
    stream.end();
    expect([stream.usage, last]).toEqual([expect.objectContaining({ webSearches: 3 }), expect.objectContaining({ webSearches: 3 })]);
  }
  const array = new GeminiArrayStream();
  array.push(bytes(pieces));
  array.end();
  expect(array.usage).toMatchObject({ webSearches: 3 });
});

test("Claude's searches in a stream are counted as they start, until usage reports them", () => {
  const event = (body: { type: string; [member: string]: unknown }) =>
    new TextEncoder().encode(`event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`);
  const stream = new MessagesStream();
  stream.push(event({ type: "message_start", message: { usage: { input_tokens: 9, output_tokens: 1 } } }));
  const started = ["web_search", "web_search", "web_fetch"].map((name, index) =>
    event({ type: "content_block_start", index, content_block: { type: "server_tool_use", id: `s${index}`, name, input: {} } }),
  );
  stream.push(event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Found: " } }));
  stream.push(Buffer.concat([...started, event({ type: "content_block_delta", index: 3, delta: { type: "text_delta", text: "four" } })]));
  expect(stream.usage).toMatchObject({ inputUncached: 9, webSearches: 2, estimated: true });
  stream.push(
    event({
      type: "message_delta",
      delta: { stop_reason: "end_turn" },
      usage: { output_tokens: 7, server_tool_use: { web_search_requests: 1 } },
    }),
  );
  expect(stream.usage).toMatchObject({ output: 7, webSearches: 1, estimated: false });
});

test.each([
  ["no search offered", { tools: [{ type: "function", function: { name: "web_search" } }, { functionDeclarations: [] }] }, 0],
  [
    "Anthropic, with max_uses",
    {
      tools: [
        { type: "web_search_20250305", name: "web_search", max_uses: 5 },
        { name: "mine", input_schema: {} },
      ],
    },
    5,
  ],
  ["Anthropic, without max_uses", { tools: [{ type: "web_search_20260209", name: "web_search" }] }, null],
  ["Responses, with max_tool_calls", { tools: [{ type: "web_search" }], max_tool_calls: 3 }, 3],
  ["Responses, without max_tool_calls", { tools: [{ type: "web_search_preview" }] }, null],
  ["chat completions", { web_search_options: {} }, 1],
  ["Gemini", { tools: [{ functionDeclarations: [] }, { googleSearch: {} }] }, null],
  ["Gemini, with a single tool object", { tools: { google_search: {} } }, null],
])("the number of searches that a request permits: %s", (_name, body, most) => {
  expect(offeredSearches(body as never)).toBe(most);
});
