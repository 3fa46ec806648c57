import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { ConversationRequest, Turn } from "../conversation/request.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { geminiCodec } from "./gemini-codec.ts";
import { TARGET, BARE, user, read, written, contents } from "../../../tests/support/formats/gemini-codec-parts.ts";

const fixture = (name: string): JsonObject => JSON.parse(readFileSync(new URL(`fixtures/request-${name}.json`, import.meta.url), "utf8"));
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const gemini = (value: string) => ({ family: "gemini" as const, value });

const EXPECTED: Record<string, ConversationRequest> = {
  text: { ...BARE, turns: [user("Explain how AI works in a few words")] },
  multipart: {
    ...BARE,
    instructions: [
      { kind: "text", text: "You are terse." },
      { kind: "text", text: "You answer in French." },
    ],
    turns: [
      {
        role: "user",
        parts: [
          { kind: "text", text: "What is in these?" },
          { kind: "image", source: { base64: PNG }, mediaType: "image/png" },
          { kind: "file", source: { base64: "JVBERi0xLjQKJSVFT0YK" }, mediaType: "application/pdf", name: null },
          { kind: "image", source: { url: "https://example.com/cat.jpg" }, mediaType: "image/jpeg" },
        ],
      },
      { role: "assistant", parts: [{ kind: "text", text: "Un chat." }] },
      {
        role: "user",
        parts: [
          { kind: "audio", base64: "UklGRiQAAABXQVZF", mediaType: "audio/wav" },
          { kind: "text", text: "And this?" },
        ],
      },
    ],
    temperature: 0.5,
    topP: 0.9,
    topK: 40,
    candidates: 1,
    maxOutputTokens: 800,
    stop: ["END"],
    seed: 7,
    presencePenalty: 0.1,
    frequencyPenalty: 0.2,
  },
  tools: {
    ...BARE,
    turns: [
      user("Weather in Paris and in Rome?"),
      {
        role: "assistant",
        parts: [
          { kind: "tool_call", id: "fc_1", name: "get_weather", arguments: '{"city":"Paris"}', signature: gemini("CiQB0e2Kb2xsbw==") },
          { kind: "tool_call", id: "fc_2", name: "get_weather", arguments: '{"city":"Rome"}' },
        ],
      },
      {
        role: "user",
        parts: [
          { kind: "tool_result", callId: "fc_1", toolName: "get_weather", content: [{ kind: "text", text: "sunny" }], isError: false },
          {
            kind: "tool_result",
            callId: "fc_2",
            toolName: "get_weather",
            content: [{ kind: "text", text: "no such station" }],
            isError: true,
          },
        ],
      },
    ],
    tools: [
      {
        name: "get_weather",
        description: "Weather of a city",
        schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false },
        strict: null,
      },
      { name: "now", description: null, schema: null, strict: null },
    ],
    toolChoice: { kind: "subset", names: ["get_weather", "now"], required: true },
  },
  structured: {
    ...BARE,
    turns: [user("List a recipe")],
    output: {
      kind: "schema",
      name: "response",
      description: null,
      schema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
      strict: null,
    },
  },
  reasoning: {
    ...BARE,
    turns: [
      user("17*23?"),
      {
        role: "assistant",
        parts: [
          { kind: "reasoning", text: "Multiplying.", redacted: false },
          { kind: "text", text: "391", signature: gemini("c2lnLXRleHQ=") },
          { kind: "text", text: "", signature: gemini("c2lnLWVtcHR5") },
        ],
      },
      user("Sure?"),
    ],
    reasoning: { effort: "low", budgetTokens: null, visible: true },
  },
};

describe("a Gemini request", () => {
  test("has its media read into standard base64", () => {
    // As sent by google-genai 2.34.0 for Python.
    expect(read(fixture("python-media")).turns[0]?.parts.slice(1)).toEqual([
      { kind: "image", source: { base64: "/9j/4AAQSkZJRgABAQD/+w==" }, mediaType: "image/jpeg" },
      { kind: "file", source: { base64: "JVBERi0xLjQK//79" }, mediaType: "application/pdf", name: null },
      { kind: "audio", base64: "UklGRvv//g==", mediaType: "audio/wav" },
    ]);
    const unfilled = { contents: [{ role: "user", parts: [{ inlineData: { data: "_9j_4AAQSkZJRgABAQD_-w" } }] }] };
    expect(read(unfilled).turns[0]?.parts).toEqual([
      { kind: "image", source: { base64: "/9j/4AAQSkZJRgABAQD/+w==" }, mediaType: "image/jpeg" },
    ]);
  });

  test.each(Object.keys(EXPECTED))("%s: is read", (name) => {
    expect(geminiCodec.readRequest(fixture(name))).toEqual({ request: EXPECTED[name]!, dropped: [] });
  });

  test.each(Object.keys(EXPECTED))("%s: is written as Google documents it", (name) => {
    expect(written(EXPECTED[name]!)).toEqual({ body: fixture(name), dropped: [] });
  });

  test("is read equally with snake_case, single objects and Google's own schema types", () => {
    expect(read(fixture("snake"))).toEqual({
      ...BARE,
      instructions: [{ kind: "text", text: "You are a cat." }],
      turns: [user("Hello there")],
      tools: [
        {
          name: "find",
          description: "Finds",
          schema: {
            type: "object",
            properties: { q: { type: ["string", "null"] }, n: { type: "array", items: { type: "integer" }, minItems: 1 } },
            required: ["q"],
          },
          strict: null,
        },
      ],
      toolChoice: { kind: "tool", name: "find" },
      temperature: 1,
      maxOutputTokens: 64,
      topP: 0.8,
      stop: ["X"],
      output: {
        kind: "schema",
        name: "response",
        description: null,
        schema: { type: "object", properties: { a: { type: "string", enum: ["x", "y"] } } },
        strict: null,
      },
      reasoning: { effort: null, budgetTokens: 0, visible: null },
    });
  });

  test("has settings that no other format supports reported as dropped", () => {
    const result = geminiCodec.readRequest({
      ...fixture("text"),
      safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
      labels: { team: "a" },
      generationConfig: { mediaResolution: "LOW" },
      store: false,
    });
    expect(result).toMatchObject({ dropped: ["safetySettings", "labels", "store", "generationConfig.mediaResolution"] });
    expect(geminiCodec.readRequest({ ...fixture("text"), safetySettings: [], labels: {} })).toMatchObject({ dropped: [] });
  });

  test.each<[string, JsonObject]>([
    ["cached_content", { cached_content: "cachedContents/1" }],
    ["tools[0].google_search", { tools: [{ google_search: {} }] }],
    ["generationConfig.responseModalities", { generationConfig: { responseModalities: ["TEXT", "IMAGE"] } }],
    ["generationConfig.responseMimeType", { generationConfig: { responseMimeType: "text/x.enum" } }],
    ["contents[0].parts[0].fileData", { contents: [{ parts: [{ fileData: { fileUri: "gs://bucket/a.pdf" } }] }] }],
    ["contents[0].parts[0].executableCode", { contents: [{ role: "model", parts: [{ executableCode: { code: "1" } }] }] }],
    [
      "contents[0].parts[0].inlineData",
      { contents: [{ role: "model", parts: [{ inlineData: { mimeType: "audio/wav", data: "UklGRg==" } }] }] },
    ],
  ])("with %s is refused", (field, body) => {
    expect(geminiCodec.readRequest({ ...fixture("text"), ...body })).toMatchObject({ unsupported: [{ field }] });
  });
});

describe("Gemini tool calls without IDs", () => {
  const call = (city: string) => ({ functionCall: { name: "w", args: { city } } });
  const result = (output: string, name = "w") => ({ functionResponse: { name, response: { output } } });
  const history = {
    contents: [
      { role: "user", parts: [{ text: "?" }] },
      { role: "model", parts: [call("Paris"), call("Rome"), { functionCall: { name: "now" } }] },
      { role: "user", parts: [result("12:00", "now"), result("sun"), result("rain")] },
      { role: "model", parts: [call("Oslo")] },
      { role: "function", parts: [result("snow")] },
    ],
  };

  test("get generated IDs, and results find them by name and order", () => {
    const parts = read(history).turns.flatMap((turn): any[] => [...turn.parts]);
    const calls = parts.filter(({ kind }) => kind === "tool_call");
    const results = parts.filter(({ kind }) => kind === "tool_result");
    expect(new Set(calls.map(({ id }) => id)).size).toBe(4);
    for (const { id } of calls) expect(id).toMatch(/^call_[0-9a-f]{24}$/);
    expect(results.map(({ callId }) => callId)).toEqual([calls[2].id, calls[0].id, calls[1].id, calls[3].id]);
  });

  test("keep their generated IDs when the history grows", () => {
    const shorter = read({ contents: history.contents.slice(0, 3) });
    expect(read(history).turns.slice(0, 3)).toEqual([...shorter.turns]);
  });

  test("may be missing for a result, which still gets an ID", () => {
    const [turn] = read({ contents: [{ parts: [result("x")] }] }).turns;
    expect(turn?.parts[0]).toMatchObject({ kind: "tool_result", toolName: "w", callId: expect.stringMatching(/^call_/) });
  });
});

test("consecutive model turns are read as one answer, as Google's clients store a stream", () => {
  const said = (role: string, ...parts: JsonObject[]): JsonObject => ({ role, parts });
  const call = (id: string): JsonObject => ({ functionCall: { id, name: "f", args: {} } });
  const result = (id: string): JsonObject => ({ functionResponse: { id, name: "f", response: { output: "x" } } });
  const { turns } = read({
    contents: [
      said("user", { text: "Hi" }),
      said("model", { text: "Let me ", thought: true }),
      said("model", { text: "see.", thought: true, thoughtSignature: "c2ln" }),
      said("model", { text: "Loo" }),
      said("model", { text: "king." }),
      said("model", call("1")),
      said("model", call("2"), { text: "" }),
      said("user", result("1"), result("2")),
      said("model", { text: "So", thoughtSignature: "c2ln" }),
      said("model", { text: "." }),
    ],
  });
  expect(turns.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
  expect(turns[1]?.parts).toEqual([
    { kind: "reasoning", text: "Let me see.", redacted: false, signature: gemini("c2ln") },
    { kind: "text", text: "Looking." },
    { kind: "tool_call", id: "1", name: "f", arguments: "{}" },
    { kind: "tool_call", id: "2", name: "f", arguments: "{}" },
  ]);
  expect(turns[3]?.parts).toEqual([
    { kind: "text", text: "So", signature: gemini("c2ln") },
    { kind: "text", text: "." },
  ]);
});

describe("tool results for Gemini", () => {
  const one = (text: string, isError = false) =>
    contents([
      user("?"),
      { role: "user", parts: [{ kind: "tool_result", callId: "c", toolName: "f", content: [{ kind: "text", text }], isError }] },
    ])[1].parts[0].functionResponse.response;

  test("are sent as objects if they are JSON objects, else as output or error", () => {
    expect(one('{ "a": [1] }')).toEqual({ a: [1] });
    expect(one("[1]")).toEqual({ output: "[1]" });
    expect(one("")).toEqual({ output: "" });
    expect(one("broken", true)).toEqual({ error: "broken" });
    expect(one('{"error":"mine"}')).toEqual({ output: '{"error":"mine"}' });
    expect(one('{"id":12345678901234567890}')).toEqual({ output: '{"id":12345678901234567890}' });
  });

  test("of parallel calls are sent in one content, even from separate turns", () => {
    const result = (callId: string): Turn => ({
      role: "user",
      parts: [{ kind: "tool_result", callId, toolName: null, content: [{ kind: "text", text: callId }], isError: false }],
    });
    const calls: Turn = {
      role: "assistant",
      parts: [
        { kind: "tool_call", id: "a", name: "fa", arguments: "{}" },
        { kind: "tool_call", id: "b", name: "fb", arguments: "" },
      ],
    };
    const sent = contents([user("?"), calls, result("a"), result("b"), user("Go on")], "gemini-2.5-flash");
    expect(sent.map(({ role }: any) => role)).toEqual(["user", "model", "user", "user"]);
    expect(sent[1].parts).toEqual([
      { functionCall: { id: "a", name: "fa", args: {} } },
      { functionCall: { id: "b", name: "fb", args: {} } },
    ]);
    expect(sent[2].parts).toEqual([
      { functionResponse: { id: "a", name: "fa", response: { output: "a" } } },
      { functionResponse: { id: "b", name: "fb", response: { output: "b" } } },
    ]);
  });

  test("of one step stay together with texts between them", () => {
    const result = (callId: string, ...more: { kind: "text"; text: string }[]): Turn => ({
      role: "user",
      parts: [{ kind: "tool_result", callId, toolName: "f", content: [], isError: false }, ...more],
    });
    const call = (id: string): Turn => ({ role: "assistant", parts: [{ kind: "tool_call", id, name: "f", arguments: "{}" }] });
    const sent = contents(
      [
        user("?"),
        { role: "assistant", parts: [{ kind: "text", text: "Let me see." }] },
        call("a"),
        call("b"),
        result("a", { kind: "text", text: "1" }),
        result("b"),
      ],
      "gemini-2.5-flash",
    );
    expect(sent.map(({ role, parts }: any) => [role, parts.map((part: object) => Object.keys(part)[0])])).toEqual([
      ["user", ["text"]],
      ["model", ["text", "functionCall", "functionCall"]],
      ["user", ["functionResponse", "text", "functionResponse"]],
    ]);
  });

  test("lose cache marks within them, which is reported", () => {
    const result: Turn = {
      role: "user",
      parts: [
        { kind: "tool_result", callId: "c", toolName: "f", content: [{ kind: "text", text: "r", cache: { ttl: "5m" } }], isError: false },
      ],
    };
    expect(geminiCodec.writeRequest({ ...BARE, turns: [user("?"), result] }, TARGET)).toMatchObject({ dropped: ["cache"] });
  });

  test("include images", () => {
    const content = [
      { kind: "text" as const, text: "see" },
      { kind: "image" as const, source: { base64: PNG }, mediaType: null },
    ];
    const sent = contents([{ role: "user", parts: [{ kind: "tool_result", callId: "c", toolName: "shot", content, isError: false }] }]);
    expect(sent[0].parts[0].functionResponse.parts).toEqual([{ inlineData: { mimeType: "image/png", data: PNG } }]);
  });
});
