import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ConversationRequest, Turn } from "../conversation/request.ts";
import type { AssistantPart, UserPart } from "../conversation/conversation-parts.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { converseCodec } from "./converse-codec.ts";
import { thinkingStyle } from "./model-family.ts";
import {
  CLAUDE,
  LLAMA,
  request,
  write,
  refused,
  text,
  call,
  result,
  tool,
  looped,
} from "../../../tests/support/formats/converse-request-parts.ts";

const OPUS = "anthropic.claude-opus-4-6-v1";
const NOVA = "us.amazon.nova-2-lite-v1:0";

describe("media for Bedrock", () => {
  const user = (part: UserPart) => ({ turns: [{ role: "user", parts: [text("see"), part] }] }) as Partial<ConversationRequest>;
  const block = (part: UserPart) => ((write(user(part)).body.messages as { content: JsonObject[] }[])[0]?.content[1] ?? {}) as JsonObject;

  test("are sent as bytes or as an S3 location", () => {
    expect(block({ kind: "image", source: { base64: "UklGRgAA" }, mediaType: null })).toEqual({
      image: { format: "webp", source: { bytes: "UklGRgAA" } },
    });
    expect(block({ kind: "image", source: { url: "s3://bucket/cat.jpg" }, mediaType: null })).toEqual({
      image: { format: "jpeg", source: { s3Location: { uri: "s3://bucket/cat.jpg" } } },
    });
    expect(block({ kind: "file", source: { text: "Grüße" }, mediaType: null, name: null })).toEqual({
      document: { format: "txt", name: "document", source: { bytes: Buffer.from("Grüße").toString("base64") } },
    });
    expect(block({ kind: "file", source: { base64: "AA==" }, mediaType: null, name: "Bücher & Listen.XLSX" })).toEqual({
      document: { format: "xlsx", name: "B cher Listen", source: { bytes: "AA==" } },
    });
    expect(block({ kind: "audio", base64: "AA==", mediaType: "audio/mpeg" })).toEqual({
      audio: { format: "mp3", source: { bytes: "AA==" } },
    });
  });

  test.each([
    [{ kind: "image", source: { url: "https://a.example/cat.png" }, mediaType: "image/png" }, "image"],
    [{ kind: "image", source: { fileId: "file-1" }, mediaType: "image/png" }, "image"],
    [{ kind: "image", source: { base64: "Qk0=" }, mediaType: "image/bmp" }, "image"],
    [{ kind: "file", source: { fileId: "file-1" }, mediaType: "application/pdf", name: null }, "file"],
    [{ kind: "file", source: { base64: "AA==" }, mediaType: "application/zip", name: "a.zip" }, "file"],
    [{ kind: "audio", base64: "AA==", mediaType: "audio/x-strange" }, "audio"],
  ] as [UserPart, string][])("are refused if unsupported: %j", (part, feature) => {
    expect(refused(user(part))).toEqual([feature] as never);
  });

  test("get unique document names, and a text block next to them", () => {
    const file = { kind: "file", source: { base64: "AA==" }, mediaType: "application/pdf", name: "a.pdf" } as const;
    const { body } = write({ turns: [{ role: "user", parts: [file, file] }] });
    expect((body.messages as { content: unknown[] }[])[0]?.content).toEqual([
      { text: "a" },
      { document: { format: "pdf", name: "a", source: { bytes: "AA==" } } },
      { document: { format: "pdf", name: "a (2)", source: { bytes: "AA==" } } },
    ]);
  });
});

describe("reasoning on Bedrock", () => {
  test.each([
    ["anthropic.claude-3-5-sonnet-20241022-v2:0", "none"],
    ["anthropic.claude-v2:1", "none"],
    ["us.anthropic.claude-3-7-sonnet-20250219-v1:0", "budget"],
    ["anthropic.claude-sonnet-4-20250514-v1:0", "budget"],
    ["anthropic.claude-opus-4-1-20250805-v1:0", "budget"],
    [CLAUDE, "budget"],
    [OPUS, "adaptive"],
    ["global.anthropic.claude-sonnet-5-v1:0", "adaptive"],
    ["us.amazon.nova-pro-v1:0", "none"],
    [NOVA, "nova"],
    ["openai.gpt-oss-120b-1:0", "effort"],
    [LLAMA, "none"],
    ["arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc", "none"],
  ])("%s: thinking style %s", (name, style) => {
    expect(thinkingStyle(name)).toBe(style as never);
  });

  const effort = (value: "none" | "minimal" | "low" | "medium" | "high" | "max") => ({ effort: value, budgetTokens: null, visible: null });

  test("with a budget leaves room for the answer and respects Claude's sampling rules", () => {
    const { body, dropped } = write({
      reasoning: { effort: null, budgetTokens: 4000, visible: true },
      maxOutputTokens: 3000,
      temperature: 0.5,
      topP: 0.99,
      topK: 5,
    });
    expect(body).toMatchObject({
      inferenceConfig: { maxTokens: 3000, topP: 0.99 },
      additionalModelRequestFields: { thinking: { type: "enabled", budget_tokens: 2999 } },
    });
    expect((body.inferenceConfig as JsonObject).temperature).toBeUndefined();
    expect(dropped).toEqual(["temperature", "top_k"]);
    expect(write({ reasoning: effort("high") }, CLAUDE).body.inferenceConfig).toEqual({ maxTokens: 16_384 + 4096 });
    expect(write({ reasoning: effort("high"), maxOutputTokens: 800 })).toMatchObject({ dropped: ["reasoning"] });
  });

  test("with an effort is written in the model's own form, for models that choose the budget themselves", () => {
    expect(write({ reasoning: { ...effort("max"), visible: true } }, OPUS).body).toMatchObject({
      additionalModelRequestFields: { thinking: { type: "adaptive", display: "summarized" } },
      outputConfig: { effort: "max" },
    });
    expect(write({ reasoning: effort("minimal") }, OPUS).body.outputConfig).toEqual({ effort: "low" });
    expect(write({ reasoning: effort("none") }, OPUS).body.additionalModelRequestFields).toEqual({ thinking: { type: "disabled" } });
    expect(write({ reasoning: { effort: null, budgetTokens: -1, visible: null } }, OPUS).body.outputConfig).toBeUndefined();
    expect(write({ reasoning: effort("high") }, NOVA).body.additionalModelRequestFields).toEqual({
      reasoningConfig: { type: "enabled", maxReasoningEffort: "high" },
    });
    expect(write({ reasoning: effort("high"), maxOutputTokens: 5 }, NOVA).body.additionalModelRequestFields).toEqual({
      reasoningConfig: { type: "enabled", maxReasoningEffort: "medium" },
    });
    expect(write({ reasoning: effort("minimal") }, "openai.gpt-oss-120b-1:0").body.additionalModelRequestFields).toEqual({
      reasoning_effort: "low",
    });
    expect(write({ reasoning: effort("high") }, LLAMA)).toMatchObject({ body: { messages: [{}] }, dropped: ["reasoning"] });
  });

  test("is dropped for a forced tool call, and for a tool loop without its reasoning", () => {
    expect(write({ reasoning: effort("high"), tools: [tool("f")], toolChoice: { kind: "required" } }, OPUS)).toMatchObject({
      dropped: ["reasoning"],
      body: { toolConfig: { toolChoice: { any: {} } } },
    });
    const turns: Turn[] = [...looped, { role: "user", parts: [text("and then?")] }];
    for (const lost of [looped, turns])
      expect(write({ reasoning: effort("high"), tools: [tool("f")], turns: lost })).toMatchObject({ dropped: ["reasoning"] });
  });

  test("of another model family, or unsigned, is not sent back", () => {
    const turns: Turn[] = [
      { role: "user", parts: [text("a")] },
      {
        role: "assistant",
        parts: [
          { kind: "reasoning", text: "x", redacted: false },
          { kind: "reasoning", text: "y", redacted: false, signature: { family: "gemini", value: "z" } },
          text("b"),
        ],
      },
      { role: "user", parts: [text("c")] },
    ];
    expect((write({ turns }).body.messages as { content: unknown }[])[1]?.content).toEqual([{ text: "b" }]);
    const signed: Turn[] = [
      { role: "user", parts: [text("a")] },
      {
        role: "assistant",
        parts: [{ kind: "reasoning", text: "x", redacted: false, signature: { family: "anthropic", value: "z" } }, text("b")],
      },
    ];
    expect((write({ turns: signed }, NOVA).body.messages as { content: unknown }[])[1]?.content).toEqual([{ text: "b" }]);
  });
});

describe("what Bedrock does not support", () => {
  test.each([
    [{ candidates: 2 }, "candidates"],
    [{ logprobs: 3 }, "logprobs"],
    [{ temperature: 1.5 }, "temperature"],
    [{ stop: [" "] }, "stop"],
  ] as [Partial<ConversationRequest>, string][])("is refused if it changes the answer: %j", (given, feature) => {
    expect(refused(given)).toEqual([feature] as never);
  });

  test("is dropped and reported if it does no harm", () => {
    expect(write({ seed: 1, presencePenalty: 0.5, frequencyPenalty: 0.1, endUser: "u", candidates: 1 }).dropped).toEqual([
      "seed",
      "presence_penalty",
      "frequency_penalty",
      "end_user",
    ]);
    expect(write({ topK: 5 }, LLAMA).dropped).toEqual(["top_k"]);
    expect(write({ instructions: [{ ...text("a"), cache: { ttl: "5m" } }] }, LLAMA)).toMatchObject({
      body: { system: [{ text: "a" }] },
      dropped: ["cache"],
    });
  });

  test("JSON output without a schema: is requested by an instruction", () => {
    const { body, dropped } = write({ instructions: [text("a")], output: { kind: "json" } });
    expect(body.system).toEqual([{ text: "a" }, { text: expect.stringContaining("JSON") }]);
    expect([body.outputConfig, dropped]).toEqual([undefined, ["output"]]);
  });

  test("a cache mark within a tool result: is moved to after the result", () => {
    const turns: Turn[] = [
      { role: "user", parts: [text("a")] },
      { role: "assistant", parts: [call("c")] },
      {
        role: "user",
        parts: [{ kind: "tool_result", callId: "c", toolName: null, content: [{ ...text("r"), cache: { ttl: "1h" } }], isError: false }],
      },
    ];
    expect((write({ turns }).body.messages as { content: unknown }[])[2]?.content).toMatchObject([
      { toolResult: { content: [{ text: "r" }] } },
      { cachePoint: { type: "default", ttl: "1h" } },
    ]);
    expect(write({ turns }, LLAMA)).toMatchObject({ dropped: ["cache"] });
  });

  test("more than four cache points: only the last four are kept", () => {
    const marked = { ...text("x"), cache: { ttl: "5m" } } as const;
    const { body, dropped } = write({ instructions: [marked, marked], turns: [{ role: "user", parts: [marked, marked, marked] }] });
    expect(body.system).toEqual([{ text: "x" }, { text: "x" }, { cachePoint: { type: "default" } }]);
    expect(dropped).toEqual(["cache"]);
  });
});

test("any conversation is written within Bedrock's rules", () => {
  const word = fc.constantFrom("", " ", "hello", "Grüße\n");
  const id = fc.constantFrom("a", "b", "c:1", "x".repeat(70));
  const userPart: fc.Arbitrary<UserPart> = fc.oneof(
    word.map(text),
    fc.tuple(id, word).map(([callId, value]) => result(callId, value)),
    fc.constant({ kind: "file", source: { base64: "AA==" }, mediaType: "application/pdf", name: "same.pdf" } as const),
  );
  const assistantPart: fc.Arbitrary<AssistantPart> = fc.oneof(
    word.map(text),
    id.map((callId) => call(callId)),
    fc.constant({ kind: "reasoning", text: "t", redacted: false, signature: { family: "anthropic", value: "s" } } as const),
  );
  const turn: fc.Arbitrary<Turn> = fc.oneof(
    fc.array(userPart, { maxLength: 3 }).map((parts) => ({ role: "user", parts }) as const),
    fc.array(assistantPart, { maxLength: 3 }).map((parts) => ({ role: "assistant", parts }) as const),
    word.map((value) => ({ role: "system", parts: [text(value)] }) as const),
  );
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 8 }), fc.boolean(), fc.constantFrom(CLAUDE, NOVA, LLAMA), (turns, offered, model) => {
      const written = converseCodec.writeRequest(request({ turns, tools: offered ? [tool("g")] : [] }), {
        name: model,
        maxOutputTokens: null,
      });
      if ("unsupported" in written) return expect(written.unsupported.map(({ feature }) => feature)).toEqual(["messages"]);
      const messages = written.body.messages as {
        role: string;
        content: {
          text?: string;
          toolUse?: { toolUseId: string };
          toolResult?: { toolUseId: string; content: unknown[] };
          document?: { name: string };
        }[];
      }[];
      const calls = messages.flatMap(({ content }) => content.flatMap(({ toolUse }) => toolUse?.toolUseId ?? []));
      const names = messages.flatMap(({ content }) => content.flatMap(({ document }) => document?.name ?? []));
      expect(messages.every(({ role }, i) => role !== messages[i - 1]?.role)).toBe(true);
      expect(messages.every(({ content }) => content.length > 0)).toBe(true);
      expect(new Set(calls).size).toBe(calls.length);
      expect(new Set(names).size).toBe(names.length);
      for (const callId of calls) expect(callId).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      if (calls.length > 0) expect(written.body.toolConfig).toBeDefined();
      for (const { content } of messages) {
        const lastResult = content.findLastIndex(({ toolResult }) => toolResult !== undefined);
        expect(content.slice(0, lastResult + 1).every(({ toolResult }) => toolResult !== undefined)).toBe(true);
        for (const block of content) {
          if (block.text !== undefined) expect(block.text.trim()).not.toBe("");
          if (block.toolResult !== undefined) expect(block.toolResult.content.length).toBeGreaterThan(0);
        }
      }
    }),
    { numRuns: 300 },
  );
});
