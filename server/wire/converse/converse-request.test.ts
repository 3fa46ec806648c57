import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { ConversationRequest } from "../conversation/request.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { CLAUDE, LLAMA, write, refused, text, call, result, tool, looped } from "../../../tests/support/formats/converse-request-parts.ts";

test("a complete conversation is written in Bedrock's Converse format", () => {
  const { body, dropped } = write({
    instructions: [{ ...text("Be brief."), cache: { ttl: "5m" } }, text("Answer in French.")],
    turns: [
      {
        role: "user",
        parts: [
          text("What is on these?"),
          { kind: "image", source: { base64: "iVBORw0KGgo=" }, mediaType: "image/png" },
          { kind: "file", source: { base64: "JVBERi0=" }, mediaType: "application/pdf", name: "report_2026.pdf", cache: { ttl: "1h" } },
        ],
      },
      {
        role: "assistant",
        parts: [
          { kind: "reasoning", text: "Look them up.", redacted: false, signature: { family: "anthropic", value: "c2ln" } },
          { kind: "reasoning", text: "", redacted: true, signature: { family: "anthropic", value: "cmVk" } },
          text("One moment."),
          call("call_1", "look_up", '{"page":1}'),
          call("call_2", "look_up", '{"page": 2}'),
        ],
      },
      { role: "user", parts: [text("Go on."), result("call_1", "a cat")] },
      {
        role: "user",
        parts: [
          {
            kind: "tool_result",
            callId: "call_2",
            toolName: null,
            content: [text("no such page"), { kind: "image", source: { base64: "/9j/4AAQ" }, mediaType: null }],
            isError: true,
          },
        ],
      },
    ],
    tools: [
      {
        name: "look_up",
        description: "Reads a page.",
        schema: { type: "object", properties: { page: { type: "integer" } }, required: ["page"] },
        strict: true,
        cache: { ttl: "5m" },
      },
    ],
    toolChoice: { kind: "required" },
    maxOutputTokens: 500,
    temperature: 0.2,
    topK: 40,
    stop: ["END"],
    output: {
      kind: "schema",
      name: "finding",
      description: "what was found",
      schema: { type: "object", properties: { animal: { type: "string" } }, required: ["animal"] },
      strict: true,
    },
    endUser: "user-1",
    seed: 7,
    presencePenalty: 0,
  });
  expect(body).toEqual(JSON.parse(readFileSync(new URL("fixtures/conversation.request.json", import.meta.url), "utf8")) as JsonObject);
  expect(dropped).toEqual(["seed", "end_user"]);
});

test("a minimal request contains only its message", () => {
  expect(write({})).toEqual({ body: { messages: [{ role: "user", content: [{ text: "Hello" }] }] }, dropped: [] });
});

describe("turns for Bedrock", () => {
  test("of the same role are merged, and blank texts are left out", () => {
    const { body } = write({
      turns: [
        { role: "user", parts: [text("a"), text(" \n")] },
        { role: "assistant", parts: [text("")] },
        { role: "user", parts: [text("b")] },
        { role: "assistant", parts: [text("c"), { kind: "refusal", text: "no" }] },
      ],
    });
    expect(body.messages).toEqual([
      { role: "user", content: [{ text: "a" }, { text: "b" }] },
      { role: "assistant", content: [{ text: "c" }, { text: "no" }] },
    ]);
  });

  test("of the system become system blocks, reported if they were within the conversation", () => {
    const early = write({
      instructions: [text("one")],
      turns: [
        { role: "system", parts: [text("two")] },
        { role: "user", parts: [text("a")] },
      ],
    });
    expect([early.body.system, early.dropped]).toEqual([[{ text: "one" }, { text: "two" }], []]);
    const late = write({
      turns: [
        { role: "user", parts: [text("a")] },
        { role: "system", parts: [text("two")] },
      ],
    });
    expect([late.body.system, late.dropped]).toEqual([[{ text: "two" }], ["system_turn"]]);
  });

  test("without any content are refused", () => {
    expect(refused({ turns: [{ role: "user", parts: [text(" ")] }] })).toEqual(["messages"]);
  });
});

describe("tool calls for Bedrock", () => {
  test("keep valid IDs and get new ones for invalid or repeated IDs, together with their results", () => {
    const { body } = write({
      tools: [tool("f")],
      turns: [
        { role: "user", parts: [text("go")] },
        { role: "assistant", parts: [call("functions.f:0"), call("ok-1")] },
        { role: "user", parts: [result("ok-1"), result("functions.f:0")] },
        { role: "assistant", parts: [call("ok-1")] },
        { role: "user", parts: [result("ok-1")] },
      ],
    });
    const ids = (body.messages as { content: { toolUse?: { toolUseId: string }; toolResult?: { toolUseId: string } }[] }[]).map(
      ({ content }) => content.flatMap(({ toolUse, toolResult }) => toolUse?.toolUseId ?? toolResult?.toolUseId ?? []),
    );
    const [, calls = [], results = [], again = [], last = []] = ids;
    expect(calls[0]).toMatch(/^call_[0-9a-f]{24}$/);
    expect(results).toEqual([calls[1], calls[0]] as string[]);
    expect(again[0]).not.toBe(calls[1]);
    expect(last).toEqual(again);
  });

  test("sharing an ID in one turn get distinct IDs, with results in the order of the calls", () => {
    const { body } = write({
      tools: [tool("f")],
      turns: [
        { role: "user", parts: [text("go")] },
        { role: "assistant", parts: [call("a", "f", '{"n":1}'), call("a", "f", '{"n":2}')] },
        { role: "user", parts: [result("a", "one"), result("a", "two")] },
      ],
    });
    const [, calls, results] = body.messages as { content: { toolUse?: { toolUseId: string }; toolResult?: { toolUseId: string } }[] }[];
    const ids = calls?.content.map(({ toolUse }) => toolUse?.toolUseId);
    expect(new Set(ids).size).toBe(2);
    expect(results?.content.map(({ toolResult }) => toolResult?.toolUseId)).toEqual(ids as string[]);
  });

  test("with arguments that are no JSON object keep the text that the model wrote", () => {
    const { body } = write({
      tools: [tool("f")],
      turns: [
        { role: "user", parts: [text("go")] },
        { role: "assistant", parts: [call("a", "f", ""), call("b", "f", '{"x":')] },
      ],
    });
    expect(JSON.stringify(body.messages)).toContain('"toolUseId":"a","name":"f","input":{}');
    expect(JSON.stringify(body.messages)).toContain('"input":{"INVALID_JSON":"{\\"x\\":"}');
  });

  test("with an empty result get a placeholder text", () => {
    const { body } = write({ tools: [tool("f")], turns: [...looped.slice(0, 2), { role: "user", parts: [result("c1", "")] }] });
    expect(JSON.stringify(body.messages)).toContain('"toolResult":{"toolUseId":"c1","content":[{"text":"(no output)"}]}');
  });

  test("in the history without tools on offer get placeholder tools that may not be called", () => {
    const { body, dropped } = write({ turns: looped });
    expect(body.toolConfig).toEqual({
      tools: [
        { toolSpec: { name: "f", description: expect.stringContaining("No longer available"), inputSchema: { json: { type: "object" } } } },
      ],
    });
    expect(body.additionalModelRequestFields).toEqual({ tool_choice: { type: "none" } });
    expect(dropped).toEqual([]);
    expect(write({ turns: looped }, LLAMA).body.additionalModelRequestFields).toBeUndefined();
  });
});

test("a Claude that refuses top_p next to temperature gets only temperature; other models get both", () => {
  const both = { temperature: 0.2, topP: 0.5 };
  expect(write(both, "anthropic.claude-sonnet-4-5-20250929-v1:0")).toMatchObject({ dropped: ["top_p"] });
  expect(write(both, "anthropic.claude-sonnet-4-5-20250929-v1:0").body.inferenceConfig).toEqual({ temperature: 0.2 });
  expect(write(both, "anthropic.claude-3-haiku-20240307-v1:0").body.inferenceConfig).toEqual(both);
  expect(write(both, "meta.llama3-3-70b-instruct-v1:0").body.inferenceConfig).toEqual(both);
});

test("trailing whitespace is removed from an assistant text that Claude continues", () => {
  const turns: ConversationRequest["turns"] = [
    { role: "user", parts: [{ kind: "text", text: "a" }] },
    { role: "assistant", parts: [{ kind: "text", text: "Say: " }] },
  ];
  const lastOf = (model: string) => (write({ turns }, model).body.messages as JsonObject[]).at(-1);
  expect(lastOf("anthropic.claude-sonnet-4-5-20250929-v1:0")).toEqual({ role: "assistant", content: [{ text: "Say:" }] });
  expect(lastOf("meta.llama3-3-70b-instruct-v1:0")).toEqual({ role: "assistant", content: [{ text: "Say: " }] });
});

describe("the tool choice for Bedrock", () => {
  const tools = [tool("f"), tool("g")];
  const config = (given: Partial<ConversationRequest>, model = CLAUDE) => {
    const { body, dropped } = write({ tools, ...given }, model);
    const { tools: offered, toolChoice } = (body.toolConfig ?? {}) as { tools?: { toolSpec: { name: string } }[]; toolChoice?: unknown };
    return { offered: offered?.map(({ toolSpec }) => toolSpec.name), toolChoice, fields: body.additionalModelRequestFields, dropped };
  };

  test.each([
    [{ toolChoice: null }, { offered: ["f", "g"] }],
    [{ toolChoice: { kind: "auto" } }, { offered: ["f", "g"] }],
    [{ toolChoice: { kind: "required" } }, { offered: ["f", "g"], toolChoice: { any: {} } }],
    [{ toolChoice: { kind: "tool", name: "g" } }, { offered: ["f", "g"], toolChoice: { tool: { name: "g" } } }],
    [{ toolChoice: { kind: "subset", names: ["g"], required: false } }, { offered: ["g"] }],
    [{ toolChoice: { kind: "subset", names: ["g"], required: true } }, { offered: ["g"], toolChoice: { any: {} } }],
    [{ toolChoice: { kind: "none" } }, {}],
    [{ parallelToolCalls: false }, { offered: ["f", "g"], fields: { tool_choice: { type: "auto", disable_parallel_tool_use: true } } }],
    // Bedrock refuses a tool choice given in both places.
    [
      { parallelToolCalls: false, toolChoice: { kind: "tool", name: "g" } },
      { offered: ["f", "g"], fields: { tool_choice: { type: "tool", name: "g", disable_parallel_tool_use: true } } },
    ],
    [{ parallelToolCalls: true }, { offered: ["f", "g"] }],
    [
      { turns: looped, toolChoice: { kind: "none" } },
      { offered: ["f", "g"], fields: { tool_choice: { type: "none" } } },
    ],
  ] as [Partial<ConversationRequest>, object][])("%j is written", (given, expected) => {
    expect(config(given)).toEqual({ offered: undefined, toolChoice: undefined, fields: undefined, dropped: [], ...expected } as ReturnType<
      typeof config
    >);
  });

  test("is reported as dropped for a model that does not support it", () => {
    expect(config({ parallelToolCalls: false }, LLAMA).dropped).toEqual(["parallel_tool_calls"]);
    expect(config({ turns: looped, toolChoice: { kind: "none" } }, LLAMA)).toMatchObject({ offered: ["f", "g"], dropped: ["tool_choice"] });
  });

  test("is refused without tools, and for tool names that Bedrock does not accept", () => {
    expect(refused({ toolChoice: { kind: "required" } })).toEqual(["tool_choice"]);
    expect(refused({ tools: [tool("fs.read")] })).toEqual(["tools"]);
    expect(refused({ tools: [tool("a".repeat(65))] })).toEqual(["tools"]);
  });
});
