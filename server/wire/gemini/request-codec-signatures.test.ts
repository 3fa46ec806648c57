import { describe, expect, test } from "bun:test";
import type { ConversationRequest, Turn } from "../conversation/request.ts";
import { geminiCodec } from "./gemini-codec.ts";
import { TARGET, BARE, user, read, written, contents } from "../../../tests/support/formats/gemini-codec-parts.ts";

const refused = (request: Partial<ConversationRequest>) => {
  const result = geminiCodec.writeRequest({ ...BARE, ...request }, TARGET);
  return "unsupported" in result ? result.unsupported.map(({ feature }) => feature) : [];
};

describe("thought signatures for Gemini", () => {
  const calls = (signature?: { family: "gemini" | "anthropic"; value: string }): Turn => ({
    role: "assistant",
    parts: ["a", "b"].map((id) => ({
      kind: "tool_call" as const,
      id,
      name: "f",
      arguments: "{}",
      ...(signature && id === "a" && { signature }),
    })),
  });
  const results: Turn = {
    role: "user",
    parts: ["a", "b"].map((callId) => ({ kind: "tool_result" as const, callId, toolName: "f", content: [], isError: false })),
  };
  const signed = (turns: Turn[], name?: string) =>
    contents(turns, name).flatMap(({ parts }: any) => parts.map((part: any) => part.thoughtSignature));

  test("of another model family are dropped", () => {
    const turns: Turn[] = [
      user("?"),
      {
        role: "assistant",
        parts: [
          { kind: "reasoning", text: "", redacted: true, signature: { family: "anthropic", value: "sealed" } },
          { kind: "reasoning", text: "Hm", redacted: false, signature: { family: "anthropic", value: "sig" } },
          { kind: "text", text: "Yes", signature: { family: "openai", value: "sig" } },
        ],
      },
    ];
    expect(contents(turns)[1].parts).toEqual([{ text: "Hm", thought: true }, { text: "Yes" }]);
  });

  test("missing from the current turn are replaced with Google's placeholder, once per step", () => {
    const none = "skip_thought_signature_validator";
    expect(signed([user("?"), calls(), results, calls({ family: "anthropic", value: "x" }), results])).toEqual([
      undefined,
      none,
      undefined,
      undefined,
      undefined,
      none,
      undefined,
      undefined,
      undefined,
    ]);
    expect(signed([user("?"), calls({ family: "gemini", value: "own" }), results])).toEqual([
      undefined,
      "own",
      undefined,
      undefined,
      undefined,
    ]);
    expect(signed([user("?"), calls(), results, user("And?")])).not.toContain(none);
    expect(signed([user("?"), calls(), results], "gemini-2.5-pro")).not.toContain(none);
  });
});

describe("a request of another format written for Gemini", () => {
  test("keeps system turns as system instructions, and reports their lost position", () => {
    const system = (text: string): Turn => ({ role: "system", parts: [{ kind: "text", text }] });
    const { body, dropped } = written({ instructions: [{ kind: "text", text: "a" }], turns: [system("b"), user("Hi"), system("c")] });
    expect(body).toEqual({
      systemInstruction: { parts: [{ text: "a" }, { text: "b" }, { text: "c" }] },
      contents: [{ role: "user", parts: [{ text: "Hi" }] }],
    });
    expect(dropped).toEqual(["system_turn"]);
    expect(written({ turns: [system("b"), user("Hi")] }).dropped).toEqual([]);
  });

  test("leaves out empty texts, which Google refuses", () => {
    expect(
      contents([
        {
          role: "user",
          parts: [
            { kind: "text", text: "" },
            { kind: "text", text: "x" },
          ],
        },
        { role: "assistant", parts: [{ kind: "text", text: "" }] },
      ]),
    ).toEqual([{ role: "user", parts: [{ text: "x" }] }]);
    expect(refused({ turns: [user("")] })).toEqual(["messages"]);
  });

  test("writes refusals as texts, and keeps arguments that are no JSON object as text", () => {
    const parts = contents(
      [
        {
          role: "assistant",
          parts: [
            { kind: "refusal", text: "No." },
            { kind: "tool_call", id: "c", name: "f", arguments: '{"a":' },
          ],
        },
      ],
      "gemini-2.5-flash",
    )[0].parts;
    expect(parts).toEqual([{ text: "No." }, { functionCall: { id: "c", name: "f", args: { input: '{"a":' } } }]);
  });

  test("drops and reports harmless losses, and refuses others", () => {
    const tools = [{ name: "f", description: null, schema: null, strict: true, cache: { ttl: "5m" as const } }];
    expect(written({ endUser: "u", seed: 2 ** 40, parallelToolCalls: false, tools }).dropped.toSorted()).toEqual([
      "cache",
      "end_user",
      "parallel_tool_calls",
      "seed",
      "tool_strict",
    ]);
    expect(written({ parallelToolCalls: true, tools: [{ ...tools[0]!, strict: null, cache: undefined as never }] }).dropped).toEqual([]);
    expect(refused({ logprobs: 0 })).toEqual(["logprobs"]);
    expect(refused({ stop: ["1", "2", "3", "4", "5", "6"] })).toEqual(["stop"]);
    expect(refused({ tools: [{ name: "9 lives", description: null, schema: null, strict: null }] })).toEqual(["tools"]);
    expect(refused({ turns: [{ role: "user", parts: [{ kind: "image", source: { fileId: "file-1" }, mediaType: null }] }] })).toEqual([
      "image",
    ]);
    expect(
      refused({ turns: [{ role: "user", parts: [{ kind: "file", source: { fileId: "file-1" }, mediaType: null, name: "a" }] }] }),
    ).toEqual(["file"]);
  });

  test("detects media types from the first bytes, and writes texts as text files", () => {
    const parts = contents([
      {
        role: "user",
        parts: [
          { kind: "image", source: { base64: "/9j/4AAQ" }, mediaType: null },
          { kind: "file", source: { base64: "JVBERi0x" }, mediaType: null, name: "a.pdf" },
          { kind: "file", source: { text: "déjà" }, mediaType: null, name: null },
          { kind: "file", source: { url: "https://example.com/a.pdf" }, mediaType: null, name: null },
        ],
      },
    ])[0].parts;
    expect(parts).toEqual([
      { inlineData: { mimeType: "image/jpeg", data: "/9j/4AAQ" } },
      { inlineData: { mimeType: "application/pdf", data: "JVBERi0x" } },
      { inlineData: { mimeType: "text/plain", data: Buffer.from("déjà").toString("base64") } },
      { fileData: { fileUri: "https://example.com/a.pdf" } },
    ]);
  });

  test.each([
    [{ kind: "auto" }, { mode: "AUTO" }],
    [{ kind: "none" }, { mode: "NONE" }],
    [{ kind: "required" }, { mode: "ANY" }],
    [
      { kind: "tool", name: "f" },
      { mode: "ANY", allowedFunctionNames: ["f"] },
    ],
    [
      { kind: "subset", names: ["f", "g"], required: true },
      { mode: "ANY", allowedFunctionNames: ["f", "g"] },
    ],
    [
      { kind: "subset", names: ["f"], required: false },
      { mode: "VALIDATED", allowedFunctionNames: ["f"] },
    ],
  ] as const)("writes the tool choice %j", (toolChoice, functionCallingConfig) => {
    const tools = ["f", "g"].map((name) => ({ name, description: null, schema: null, strict: null }));
    const { body } = written({ tools, toolChoice });
    expect(body.toolConfig as unknown).toEqual({ functionCallingConfig });
    expect(read(body).toolChoice).toEqual(toolChoice);
  });

  test.each([
    ["gemini-3-flash", "none", { thinkingLevel: "MINIMAL" }],
    ["gemini-3.1-pro", "minimal", { thinkingLevel: "LOW" }],
    ["gemini-flash-latest", "xhigh", { thinkingLevel: "HIGH" }],
    ["gemini-2.5-flash", "none", { thinkingBudget: 0 }],
    ["gemini-2.5-pro", "none", { thinkingBudget: 128 }],
    ["gemini-2.5-flash", "medium", { thinkingBudget: 8192 }],
  ] as const)("for %s, writes reasoning effort %s as %j", (name, effort, thinkingConfig) => {
    const { body } = written({ reasoning: { effort, budgetTokens: null, visible: null } }, name);
    expect(body.generationConfig as unknown).toEqual({ thinkingConfig });
  });

  test("limits a thinking budget to the model's range, and drops it for a model without thinking", () => {
    const budget = (name: string, budgetTokens: number) => written({ reasoning: { effort: null, budgetTokens, visible: true } }, name);
    expect(budget("gemini-2.5-flash", 60_000).body.generationConfig as unknown).toEqual({
      thinkingConfig: { thinkingBudget: 24_576, includeThoughts: true },
    });
    expect(budget("gemini-3-pro", -1).body.generationConfig as unknown).toEqual({
      thinkingConfig: { thinkingBudget: -1, includeThoughts: true },
    });
    expect(budget("gemini-2.0-flash", 100)).toMatchObject({ body: { contents: expect.anything() }, dropped: ["reasoning"] });
  });
});
