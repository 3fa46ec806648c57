import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { ConversationRequest } from "../conversation/request.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { messagesCodec } from "./messages-codec.ts";
import { TARGET, COUNTS, BARE, PNG } from "../../../tests/support/formats/messages-codec-parts.ts";

const fixture = (name: string): JsonObject => JSON.parse(readFileSync(new URL(`fixtures/${name}.json`, import.meta.url), "utf8"));

const EXPECTED: Record<string, ConversationRequest> = {
  text: { ...BARE, maxOutputTokens: 1024, turns: [{ role: "user", parts: [{ kind: "text", text: "Hello, Claude" }] }] },
  multipart: {
    ...BARE,
    maxOutputTokens: 1024,
    temperature: 0.5,
    topK: 40,
    endUser: "user-7",
    stream: true,
    instructions: [
      { kind: "text", text: "You read documents." },
      { kind: "text", text: "The house rules.", cache: { ttl: "1h" } },
    ],
    turns: [
      {
        role: "user",
        parts: [
          { kind: "image", source: { base64: PNG }, mediaType: "image/png" },
          { kind: "image", source: { url: "https://example.com/cat.jpg" }, mediaType: null },
          {
            kind: "file",
            source: { base64: "JVBERi0xLjQKJeLjz9MK" },
            mediaType: "application/pdf",
            name: "report.pdf",
            cache: { ttl: "5m" },
          },
          { kind: "file", source: { text: "A note." }, mediaType: "text/plain", name: null },
          { kind: "text", text: "What do these show?" },
        ],
      },
    ],
  },
  tools: {
    ...BARE,
    maxOutputTokens: 2048,
    instructions: [{ kind: "text", text: "Be brief." }],
    stop: ["END"],
    toolChoice: { kind: "auto" },
    parallelToolCalls: false,
    tools: [
      {
        name: "get_weather",
        description: "Weather of a city",
        schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
        strict: true,
        cache: { ttl: "5m" },
      },
      { name: "now", description: null, schema: { type: "object", properties: {} }, strict: null },
    ],
    turns: [
      { role: "user", parts: [{ kind: "text", text: "Weather in Rome and Oslo?" }] },
      {
        role: "assistant",
        parts: [
          { kind: "text", text: "I will look." },
          { kind: "tool_call", id: "toolu_01", name: "get_weather", arguments: '{"city":"Rome"}' },
          { kind: "tool_call", id: "toolu_02", name: "get_weather", arguments: '{"city":"Oslo"}' },
        ],
      },
      {
        role: "user",
        parts: [
          { kind: "tool_result", callId: "toolu_01", toolName: null, content: [{ kind: "text", text: "21 degrees" }], isError: false },
          {
            kind: "tool_result",
            callId: "toolu_02",
            toolName: null,
            content: [
              { kind: "text", text: "No station." },
              { kind: "image", source: { url: "https://example.com/map.png" }, mediaType: null },
            ],
            isError: true,
          },
          { kind: "text", text: "And tomorrow?" },
        ],
      },
      { role: "system", parts: [{ kind: "text", text: "Answer in Celsius." }] },
    ],
  },
  structured: {
    ...BARE,
    maxOutputTokens: 512,
    turns: [{ role: "user", parts: [{ kind: "text", text: "Name a city." }] }],
    output: {
      kind: "schema",
      name: "output",
      description: null,
      schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false },
      strict: null,
    },
    reasoning: { effort: "medium", budgetTokens: null, visible: true },
  },
  reasoning: {
    ...BARE,
    maxOutputTokens: 8192,
    reasoning: { effort: null, budgetTokens: 4096, visible: true },
    tools: [
      {
        name: "multiply",
        description: null,
        schema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
        strict: null,
      },
    ],
    turns: [
      { role: "user", parts: [{ kind: "text", text: "What is 17 * 23?" }] },
      {
        role: "assistant",
        parts: [
          { kind: "reasoning", text: "I should multiply.", redacted: false, signature: { family: "anthropic", value: "EqQBCgIYAhIkMDFh" } },
          { kind: "reasoning", text: "", redacted: true, signature: { family: "anthropic", value: "EmwKAhgBEgy3va3p" } },
          { kind: "tool_call", id: "toolu_03", name: "multiply", arguments: '{"a":17,"b":23}' },
        ],
      },
      {
        role: "user",
        parts: [{ kind: "tool_result", callId: "toolu_03", toolName: null, content: [{ kind: "text", text: "391" }], isError: false }],
      },
    ],
  },
};

test.each([
  ["enabled", true],
  ["adaptive", true],
])("thinking without a display setting (%s) is visible, as with the vendor", (type, visible) => {
  const body = { ...(fixture("request-text") as object), thinking: { type, budget_tokens: 2048 } };
  expect(messagesCodec.readRequest(body as never)).toMatchObject({ request: { reasoning: { visible } } });
});

describe("a Messages request", () => {
  for (const [name, request] of Object.entries(EXPECTED)) {
    test(`${name}: is read and written like the vendor's`, () => {
      expect(messagesCodec.readRequest(fixture(`request-${name}`))).toEqual({ request, dropped: [] });
      const target = name === "reasoning" ? COUNTS : TARGET;
      expect(messagesCodec.writeRequest(request, target)).toEqual({
        body: { ...fixture(`request-${name}`), model: target.name },
        dropped: [],
      });
    });
  }
});

describe("what other formats do not support of a Messages request", () => {
  const read = (more: JsonObject) => messagesCodec.readRequest({ ...fixture("request-text"), ...more });

  test("is dropped and named if that does no harm", () => {
    const result = read({
      service_tier: "auto",
      cache_control: { type: "ephemeral" },
      made_up: 1,
      speed: null,
      tools: [{ name: "t", input_schema: {}, defer_loading: true }],
    });
    expect(result).toMatchObject({ dropped: ["service_tier", "cache_control", "made_up", "tools[0].defer_loading"] });
  });

  test.each<[JsonObject, string]>([
    [{ container: "c_1" }, "container"],
    [{ inference_geo: "us" }, "inference_geo"],
    [{ max_tokens: 0 }, "max_tokens"],
    [{ tools: [{ type: "web_search_20260318", name: "web_search" }] }, "tools[0].type"],
    [{ messages: [{ role: "user", content: [{ type: "container_upload", file_id: "file_1" }] }] }, "messages[0].content[0].type"],
    [
      { messages: [{ role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: [{ type: "tool_reference" }] }] }] },
      "messages[0].content[0].content[0].type",
    ],
    [
      { messages: [{ role: "assistant", content: [{ type: "server_tool_use", id: "s", name: "web_search", input: {} }] }] },
      "messages[0].content[0].type",
    ],
    [{ output_config: { format: { type: "grammar" } } }, "output_config.format"],
    [{ output_format: { type: "grammar" } }, "output_format"],
    [{ thread: { type: "create" } }, "thread"],
  ])("is refused by name: %j", (more, field) => {
    const result = read(more);
    expect("unsupported" in result ? result.unsupported.map((problem) => problem.field) : []).toEqual([field]);
  });
});

test("the answer schema is read from output_format, unless output_config has one", () => {
  const format = (title: string) => ({ type: "json_schema", schema: { type: "object", title } });
  const schemaOf = (more: JsonObject) => {
    const result = messagesCodec.readRequest({ ...fixture("request-text"), ...more });
    return "unsupported" in result || result.request.output?.kind !== "schema"
      ? null
      : [result.request.output.schema.title, result.dropped];
  };
  expect(schemaOf({ output_format: format("older") })).toEqual(["older", []]);
  expect(schemaOf({ output_format: format("older"), output_config: { format: format("newer") } })).toEqual(["newer", []]);
  expect(schemaOf({ output_format: format("older"), output_config: { effort: "low" } })).toEqual(["older", []]);
});
