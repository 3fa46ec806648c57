import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { OutboundChanges } from "../inbound.ts";
import { readCountTokensRequest } from "./count-tokens.ts";
import { type GeminiRequest, readGeminiRequest } from "./gemini-request.ts";

const fixture = (name: string) => readFileSync(new URL(`fixtures/${name}`, import.meta.url), "utf8");
const bytes = (value: unknown) => new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));
const ADDRESS = { model: "flash", stream: false };
const NOTHING: OutboundChanges = { model: "gemini-3-flash", defaultTemperature: null, defaultMaxTokens: null, systemPrompt: null };
const HELLO = [{ role: "user", parts: [{ text: "Hello" }] }];

function read(body: unknown): GeminiRequest {
  const request = readGeminiRequest(bytes(body), ADDRESS);
  if ("fields" in request) throw new Error(JSON.stringify(request.fields));
  return request;
}

function problems(body: unknown): string[] {
  const request = readGeminiRequest(bytes(body), ADDRESS);
  return "fields" in request ? request.fields.map(({ field }) => field) : [];
}

const shown = (request: GeminiRequest) => request.texts().map(({ role, kind, text }) => [role, kind, text]);

describe("reading a generateContent request", () => {
  test("the URL gives the model and whether to stream", () => {
    const request = readGeminiRequest(bytes({ contents: HELLO }), { model: "tuned/a:b", stream: true });
    expect(request).toMatchObject({ model: "tuned/a:b", modelId: null, stream: true });
  });

  test.each(["multipart", "tools", "structured", "reasoning", "snake", "text"])("%s is sent byte for byte", (name) => {
    const text = fixture(`request-${name}.json`);
    expect(read(text).outbound(NOTHING)).toBe(text);
  });

  test("a model named in the body is removed, because the URL names the model", () => {
    expect(read('{"model":"models/other","contents":[{"parts":[{"text":"Hello"}]}]}').outbound(NOTHING)).toBe(
      '{"contents":[{"parts":[{"text":"Hello"}]}]}',
    );
  });

  test("settings are read in snake_case and camelCase", () => {
    expect(read(fixture("request-multipart.json"))).toMatchObject({
      temperature: 0.5,
      maxTokens: 800,
      candidates: 1,
      instructions: "You are terse.\nYou answer in French.",
    });
    expect(read(fixture("request-snake.json"))).toMatchObject({
      temperature: 1,
      maxTokens: 64,
      tools: ["find"],
      instructions: "You are a cat.",
    });
    expect(read(fixture("request-text.json"))).toMatchObject({
      temperature: null,
      maxTokens: null,
      candidates: 1,
      tools: [],
      instructions: null,
    });
  });
});

describe("an invalid generateContent request", () => {
  test.each([
    [{}, "contents"],
    [{ contents: [] }, "contents"],
    [{ contents: "Hello" }, "contents"],
    [{ contents: [HELLO[0], { role: "user", parts: [{ text: 3 }] }] }, "contents[1].parts[0].text"],
    [{ contents: [{ role: 1, parts: [] }] }, "contents[0].role"],
    [{ contents: [{ parts: ["Hello"] }] }, "contents[0].parts[0]"],
    [{ contents: [{ parts: [{ function_call: { name: "a", args: "{}" } }] }] }, "contents[0].parts[0].function_call.args"],
    [{ contents: [{ parts: [{ functionResponse: { name: "a", response: "x" } }] }] }, "contents[0].parts[0].functionResponse.response"],
    [{ contents: HELLO, systemInstruction: "Be kind" }, "systemInstruction"],
    [{ contents: HELLO, tools: "search" }, "tools"],
    [{ contents: HELLO, tools: [{ functionDeclarations: [{ description: "nameless" }] }] }, "tools[0].functionDeclarations[0].name"],
    [{ contents: HELLO, generationConfig: { temperature: "hot" } }, "generationConfig.temperature"],
    [{ contents: HELLO, generation_config: { max_output_tokens: -1 } }, "generation_config.max_output_tokens"],
    ...[0, -1, 1.5, "5", true].flatMap((value): [object, string][] => [
      [{ contents: HELLO, generationConfig: { maxOutputTokens: value } }, "generationConfig.maxOutputTokens"],
      [{ contents: HELLO, generationConfig: { candidateCount: value } }, "generationConfig.candidateCount"],
    ]),
    [{ contents: HELLO, generationConfig: {}, generation_config: { temperature: 2 } }, "generation_config"],
    [{ contents: HELLO, generationConfig: { maxOutputTokens: 1, max_output_tokens: 9 } }, "generationConfig.max_output_tokens"],
  ])("%j is refused, naming %s", (body, field) => {
    expect(problems(body)).toEqual([field]);
  });

  test("that is no JSON object is refused", () => {
    expect(problems("[]")).toEqual([""]);
    expect(problems("{")).toEqual([""]);
    expect(problems('{"contents":1,"contents":[]}')).toEqual(["contents"]);
  });

  test("has at most twenty problems reported", () => {
    expect(problems({ contents: Array.from({ length: 50 }, () => 1) })).toHaveLength(20);
  });
});

describe("the texts of a generateContent request", () => {
  const body = {
    systemInstruction: { parts: [{ text: "system" }] },
    contents: [
      {
        role: "user",
        parts: [
          { text: "question" },
          { inline_data: { mime_type: "text/plain", data: Buffer.from("déjà vu").toString("base64") } },
          { inlineData: { mimeType: "image/png", data: "AAAA" } },
        ],
      },
      {
        role: "model",
        parts: [
          { text: "thought", thought: true },
          { functionCall: { name: "f", args: { a: "argument" } } },
          { executableCode: { language: "PYTHON", code: "print(1)" } },
          { codeExecutionResult: { output: "1" } },
        ],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { name: "f", response: { output: "plain" } } },
          { function_response: { name: "f", response: { deep: [{ "4111": 4111 }] }, parts: [{ text: "nested" }] } },
        ],
      },
    ],
    tools: [],
  };
  const expected: [string, string, string][] = [
    ["system", "text", "system"],
    ["user", "text", "question"],
    ["user", "text", "déjà vu"],
    ["assistant", "text", "thought"],
    ["assistant", "arguments", '{"a":"argument"}'],
    ["assistant", "text", "print(1)"],
    ["tool", "text", "1"],
    ["tool", "text", "plain"],
    ["tool", "arguments", '{"deep":[{"4111":4111}]}'],
    ["tool", "text", "nested"],
  ];

  test("are found in order, with their roles", () => {
    expect(shown(read(body))).toEqual(expected);
    expect(read(body).inputCharacters).toBe(expected.reduce((sum, [, , text]) => sum + text.length, 0));
  });

  test("can each be replaced in place", () => {
    const request = read(body);
    for (const slot of request.texts()) slot.replace(slot.kind === "text" ? `[${slot.text}]` : '{"hidden":true}');
    expect(shown(request)).toEqual(
      expected.map(([role, kind, text]): string[] => [role as string, kind as string, kind === "text" ? `[${text}]` : '{"hidden":true}']),
    );
    expect(shown(read(request.outbound(NOTHING)))).toEqual(shown(request));
  });

  test("can be replaced without changing other bytes", () => {
    const request = read('{ "contents":[{"parts":[{"text":"a"}]}],\n "generationConfig" : { "topP":1.0 } }');
    request.texts()[0]?.replace("b");
    expect(request.outbound(NOTHING)).toBe('{ "contents":[{"parts":[{"text":"b"}]}],\n "generationConfig" : { "topP":1.0 } }');
  });

  test("are found in single objects in place of arrays, as in Google's examples", () => {
    expect(shown(read(fixture("request-snake.json")))).toEqual([
      ["user", "text", "X"],
      ["tool_definition", "text", "Finds"],
      ["system", "text", "You are a cat."],
      ["user", "text", "Hello there"],
    ]);
  });
});

describe("changes by governance", () => {
  test("defaults fill only settings that the caller left out, without changing the request itself", () => {
    const request = read({ contents: HELLO, generationConfig: { topK: 1, temperature: 0 } });
    const changes = { ...NOTHING, defaultTemperature: 0.3, defaultMaxTokens: 100 };
    expect(JSON.parse(request.outbound(changes))).toEqual({
      contents: HELLO,
      generationConfig: { topK: 1, temperature: 0, maxOutputTokens: 100 },
    });
    expect(JSON.parse(request.outbound(NOTHING))).toEqual({ contents: HELLO, generationConfig: { topK: 1, temperature: 0 } });
  });

  test("a configured temperature is left out for a model without sampling settings, the caller's is kept", () => {
    for (const config of [{ topK: 1 }, { topK: 1, temperature: 1 }]) {
      const request = read({ contents: HELLO, generationConfig: config });
      request.temperature = 0.5;
      expect(JSON.parse(request.outbound({ ...NOTHING, sampling: false })).generationConfig).toEqual({ topK: 1 });
      expect(request.sentSettings({ ...NOTHING, sampling: false }).temperature).toBeNull();
    }
    const own = JSON.stringify({ contents: HELLO, generationConfig: { temperature: 1 } });
    expect(read(own).outbound({ ...NOTHING, sampling: false })).toBe(own);
  });

  test("the model's system prompt precedes the caller's, in the caller's spelling", () => {
    const sent = JSON.parse(read(fixture("request-snake.json")).outbound({ ...NOTHING, systemPrompt: "First." }));
    expect(sent.system_instruction).toEqual({ parts: [{ text: "First." }, { text: "You are a cat." }] });
    expect(sent.systemInstruction).toBeUndefined();
    expect(JSON.parse(read({ contents: HELLO }).outbound({ ...NOTHING, systemPrompt: "First." })).systemInstruction).toEqual({
      parts: [{ text: "First." }],
    });
  });

  test("instructions are added before and after the caller's", () => {
    const request = read({ systemInstruction: { role: "user", parts: [{ text: "own" }] }, contents: HELLO });
    request.addInstructions(["before"], ["after"]);
    expect(request.instructions).toBe("before\nown\nafter");
    expect(JSON.parse(request.outbound(NOTHING)).systemInstruction.role).toBe("user");
  });

  test("temperature and maximum tokens are changed and removed in the caller's spelling", () => {
    const request = read(fixture("request-snake.json"));
    request.maxTokens = 10;
    request.temperature = null;
    const sent = JSON.parse(request.outbound(NOTHING));
    expect(sent.generation_config).toMatchObject({ max_output_tokens: 10, top_p: 0.8 });
    expect("temperature" in sent.generation_config).toBe(false);
    expect(sent.generationConfig).toBeUndefined();
  });

  test("tools are removed wherever they are named", () => {
    const request = read({
      contents: HELLO,
      tools: [{ functionDeclarations: [{ name: "a" }, { name: "b" }], google_search: {} }, { codeExecution: {} }],
      toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["a", "b"] } },
    });
    expect(request.tools).toEqual(["a", "b", "googleSearch", "codeExecution"]);
    request.removeTools(new Set(["a", "googleSearch", "codeExecution"]));
    expect(JSON.parse(request.outbound(NOTHING))).toEqual({
      contents: HELLO,
      tools: [{ functionDeclarations: [{ name: "b" }] }],
      toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["b"] } },
    });
    request.removeTools(new Set(["b"]));
    expect(JSON.parse(request.outbound(NOTHING))).toEqual({ contents: HELLO, toolConfig: {} });
  });

  test("if only removed tools were allowed, calling tools is disabled", () => {
    const request = read({
      contents: HELLO,
      tools: [{ functionDeclarations: [{ name: "a" }, { name: "b" }] }],
      toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["a"] } },
    });
    request.removeTools(new Set(["a"]));
    expect(JSON.parse(request.outbound(NOTHING)).toolConfig).toEqual({ functionCallingConfig: { mode: "NONE" } });
  });
});

describe("a countTokens request", () => {
  const count = (body: unknown) => {
    const request = readCountTokensRequest(bytes(body), "flash");
    if ("fields" in request) throw new Error(JSON.stringify(request.fields));
    return request;
  };
  const changes = { ...NOTHING, defaultTemperature: 1, defaultMaxTokens: 5 };

  test("with contents only is sent unchanged, without defaults", () => {
    const text = '{"contents": [{"parts":[{"text":"Hello"}]}] }';
    expect(count(text).outbound(changes)).toBe(text);
  });

  test("with generateContentRequest is sent with the provider's model name", () => {
    const request = count('{ "generateContentRequest": {"model":"models/flash", "contents":[{"parts":[{"text":"Hello"}]}], "x":1.0} }');
    expect(request.outbound(changes)).toBe(
      '{ "generateContentRequest": {"model":"models/gemini-3-flash", "contents":[{"parts":[{"text":"Hello"}]}], "x":1.0} }',
    );
    expect(shown(request)).toEqual([["user", "text", "Hello"]]);
  });

  test("includes the model's system prompt in the count", () => {
    expect(JSON.parse(count({ contents: HELLO }).outbound({ ...changes, systemPrompt: "Be kind." }))).toEqual({
      generateContentRequest: { model: "models/gemini-3-flash", contents: HELLO, systemInstruction: { parts: [{ text: "Be kind." }] } },
    });
  });

  test("with problems is refused, naming the fields as the caller wrote them", () => {
    expect(readCountTokensRequest(bytes({ generate_content_request: { contents: [] } }), "m")).toEqual({
      fields: [{ field: "generate_content_request.contents", message: "must be a non-empty array" }],
    });
    expect(readCountTokensRequest(bytes({ contents: HELLO, generateContentRequest: { contents: HELLO } }), "m")).toMatchObject({
      fields: [{ field: "contents" }],
    });
    expect(readCountTokensRequest(bytes({}), "m")).toMatchObject({ fields: [{ field: "contents" }] });
  });
});
