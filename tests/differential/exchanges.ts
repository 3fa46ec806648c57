import type { PortkeyProvider } from "./portkey.ts";

/** A provider that both gateways are configured with. */
export interface Target {
  readonly id: PortkeyProvider;
  readonly apiFormat: string;
  readonly model: string;
  readonly embeddingModel: string | null;
}

export const TARGETS: readonly Target[] = [
  { id: "openai", apiFormat: "openai", model: "gpt-fake", embeddingModel: "text-embedding-fake" },
  { id: "anthropic", apiFormat: "anthropic", model: "claude-sonnet-4-5", embeddingModel: null },
  { id: "google", apiFormat: "gemini", model: "gemini-3-fake", embeddingModel: "gemini-embedding-fake" },
  { id: "bedrock", apiFormat: "bedrock", model: "anthropic.claude-sonnet-4-5-v1:0", embeddingModel: "amazon.titan-embed-text-v2:0" },
];

/** A request that a client sends to both gateways, without the model. */
export interface Exchange {
  readonly name: string;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly targets: readonly PortkeyProvider[];
  /** Suffix of the model's name that makes the fake vendor fail. */
  readonly suffix?: string;
}

const ALL: readonly PortkeyProvider[] = ["openai", "anthropic", "google", "bedrock"];
const hello = [{ role: "user", content: "Hello" }];
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const schema = { type: "object", properties: { city: { type: "string", description: "Where" } }, required: ["city"] };
const weather = { type: "function", function: { name: "weather", description: "The weather of a city", parameters: schema } };
const time = { type: "function", function: { name: "time", description: "The time in a city", parameters: schema } };
const called = (id: string, name: string) => ({ id, type: "function", function: { name, arguments: '{"city":"Oslo"}' } });

const chat = (name: string, body: Record<string, unknown>, more: Partial<Exchange> = {}): Exchange => ({
  name,
  path: "/chat/completions",
  body: { max_tokens: 100, ...body },
  targets: ALL,
  ...more,
});

/** Only requests that both gateways document: what just one of them supports cannot be compared. */
export const EXCHANGES: readonly Exchange[] = [
  chat("one text", { messages: hello }),
  chat("one text, streamed", { messages: hello, stream: true }),
  chat("one text, streamed with usage", { messages: hello, stream: true, stream_options: { include_usage: true } }),
  chat("a system message", { messages: [{ role: "system", content: "Be brief." }, ...hello] }),
  chat("a developer message", { messages: [{ role: "developer", content: "Be brief." }, ...hello] }),
  chat("a system message in parts", {
    messages: [
      {
        role: "system",
        content: [
          { type: "text", text: "Be brief." },
          { type: "text", text: "Be kind." },
        ],
      },
      ...hello,
    ],
  }),
  chat("earlier turns", { messages: [...hello, { role: "assistant", content: "Hi." }, { role: "user", content: "Go on." }] }),
  chat("two turns of the same role", {
    messages: [
      { role: "user", content: "Hello" },
      { role: "user", content: "Are you there?" },
    ],
  }),
  chat("an image in the request", {
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "What is this?" },
          { type: "image_url", image_url: { url: `data:image/png;base64,${pixel}` } },
        ],
      },
    ],
  }),
  chat("sampling and a stop sequence", { messages: hello, temperature: 0.5, top_p: 0.9, stop: ["END"] }),
  chat("a stop sequence as a string", { messages: hello, stop: "END" }),
  chat("max_completion_tokens", { messages: hello, max_tokens: undefined, max_completion_tokens: 77 }),
  chat("no output token limit", { messages: hello, max_tokens: undefined }),
  chat("tools", { messages: hello, tools: [weather, time], tool_choice: "auto" }),
  chat("tools, streamed", { messages: hello, tools: [weather], stream: true }),
  chat("any tool", { messages: hello, tools: [weather], tool_choice: "required" }),
  chat("no tool", { messages: hello, tools: [weather], tool_choice: "none" }),
  chat("one tool", { messages: hello, tools: [weather], tool_choice: { type: "function", function: { name: "weather" } } }),
  chat("a tool's result", {
    messages: [
      ...hello,
      { role: "assistant", content: null, tool_calls: [called("call_1", "weather")] },
      { role: "tool", tool_call_id: "call_1", content: "4 degrees" },
    ],
    tools: [weather],
  }),
  chat("results of parallel calls", {
    messages: [
      ...hello,
      { role: "assistant", content: "One moment.", tool_calls: [called("call_1", "weather"), called("call_2", "time")] },
      { role: "tool", tool_call_id: "call_1", content: "4 degrees" },
      { role: "tool", tool_call_id: "call_2", content: "noon" },
    ],
    tools: [weather, time],
  }),
  chat("an answer with a JSON schema", {
    messages: hello,
    response_format: {
      type: "json_schema",
      json_schema: { name: "answer", strict: true, schema: { ...schema, additionalProperties: false } },
    },
  }),
  chat("an answer as JSON", { messages: [{ role: "user", content: "Answer in JSON." }], response_format: { type: "json_object" } }),
  chat("an end user's ID", { messages: hello, user: "user-1" }),
  chat("a request the vendor refuses", { messages: hello }, { suffix: "-400" }),
  chat("a vendor's rate limit error", { messages: hello }, { suffix: "-429" }),
  chat("a failing vendor", { messages: hello }, { suffix: "-500" }),
  { name: "a legacy completion", path: "/completions", body: { prompt: "Hello", max_tokens: 100 }, targets: ["openai"] },
  { name: "the embedding of one text", path: "/embeddings", body: { input: "Hello" }, targets: ["openai", "google", "bedrock"] },
  {
    name: "native messages",
    path: "/messages",
    body: {
      max_tokens: 100,
      system: "Be brief.",
      messages: hello,
      tools: [{ name: "weather", description: "The weather", input_schema: schema }],
    },
    targets: ["anthropic"],
  },
  {
    name: "native messages, streamed",
    path: "/messages",
    body: { max_tokens: 100, messages: hello, stream: true },
    targets: ["anthropic"],
  },
];
