import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { estimateInputTokens } from "./estimate.ts";
import { versionProblems, type MessagesReading, readMessagesRequest } from "./messages-request.ts";

const encoder = new TextEncoder();
const fixture = (name: string): string => readFileSync(new URL(`fixtures/${name}.json`, import.meta.url), "utf8");
const UNCHANGED = { defaultTemperature: null, defaultMaxTokens: null, systemPrompt: null };
const DEFAULTS = { model: "m", defaultTemperature: 0.2, defaultMaxTokens: 50, systemPrompt: "House." };

function read(text: string, reading: MessagesReading = { maxTokensRequired: true }) {
  const request = readMessagesRequest(encoder.encode(text), reading);
  if ("fields" in request) throw new Error(JSON.stringify(request.fields));
  return request;
}
const body = (more: object) => JSON.stringify({ model: "m", max_tokens: 9, messages: [{ role: "user", content: "hi" }], ...more });

describe("an outbound Messages request", () => {
  test("is sent byte for byte if nothing had to change", () => {
    for (const name of ["text", "multipart", "tools", "structured", "reasoning"]) {
      const text = fixture(`request-${name}`);
      const request = read(text);
      request.texts();
      expect(request.outbound({ model: "claude-opus-5-5", ...UNCHANGED })).toBe(text);
    }
  });

  test("has only the model changed", () => {
    const text = '{ "model":"fast", "max_tokens":10e1,"messages":[{"role":"user","content":"h\\u00e9 model"}],"x":0.10}';
    expect(read(text).outbound({ model: "slow", ...UNCHANGED })).toBe(text.replace('"fast"', '"slow"'));
    expect(
      read('{"model_id":"0b","max_tokens":1,"messages":[{"role":"user","content":"hi"}]}').outbound({ model: "m", ...UNCHANGED }),
    ).toBe('{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"hi"}]}');
  });

  test("includes the model's defaults and system prompt, separately for each attempt", () => {
    const request = read(body({}));
    expect(JSON.parse(request.outbound(DEFAULTS))).toEqual({
      temperature: 0.2,
      system: "House.",
      model: "m",
      max_tokens: 9,
      messages: [{ role: "user", content: "hi" }],
    });
    expect(request.outbound({ model: "m", ...UNCHANGED })).toBe(body({}));
    expect(JSON.parse(read(body({ temperature: 1, system: "Own." })).outbound(DEFAULTS))).toMatchObject({
      temperature: 1,
      system: "House.\n\nOwn.",
    });
    expect(JSON.parse(read(body({ system: [{ type: "text", text: "Own." }] })).outbound(DEFAULTS)).system).toEqual([
      { type: "text", text: "House." },
      { type: "text", text: "Own." },
    ]);
  });

  const AS_IT_IS = { model: "claude-sonnet-4-5", ...UNCHANGED };

  test("has its thinking budget reduced below a lowered max_tokens, or removed if there is no room", () => {
    const asked = body({ max_tokens: 32_000, thinking: { type: "enabled", budget_tokens: 31_999, display: "omitted" } });
    const lowered = read(asked);
    lowered.maxTokens = 8_000;
    expect(JSON.parse(lowered.outbound(AS_IT_IS))).toMatchObject({
      max_tokens: 8_000,
      thinking: { type: "enabled", budget_tokens: 7_999, display: "omitted" },
    });
    const low = read(asked);
    low.maxTokens = 500;
    low.temperature = 0.5;
    expect(JSON.parse(low.outbound(AS_IT_IS))).toMatchObject({ max_tokens: 500, temperature: 0.5 });
    expect(JSON.parse(low.outbound(AS_IT_IS)).thinking).toBeUndefined();
    // Conflicts in the caller's own values are left to the vendor.
    const impossible = body({ max_tokens: 2_000, thinking: { type: "enabled", budget_tokens: 4_000 } });
    expect(read(impossible).outbound({ ...AS_IT_IS, model: "m" })).toBe(impossible);
  });

  test("drops thinking in a tool loop with unsigned thinking, for models that require it to be signed", () => {
    const loop = (thought: object) => [
      { role: "user", content: "What time is it?" },
      { role: "assistant", content: [thought, { type: "tool_use", id: "call_1", name: "clock", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1", content: "noon" }] },
    ];
    const told = (thought: object, model: string) => {
      const thinking = { type: "enabled", budget_tokens: 2_000 };
      return JSON.parse(read(body({ messages: loop(thought), thinking, max_tokens: 4_000 })).outbound({ ...AS_IT_IS, model })).thinking;
    };
    const unsigned = { type: "thinking", thinking: "Noon?", signature: "" };
    expect(told(unsigned, "claude-sonnet-4-5")).toBeUndefined();
    expect(told({ ...unsigned, signature: "c2ln" }, "claude-sonnet-4-5")).toMatchObject({ type: "enabled" });
    expect(told(unsigned, "claude-sonnet-5")).toBeDefined();
  });

  test("leaves out a configured temperature for a model without sampling settings", () => {
    for (const asked of [{}, { temperature: 1 }]) {
      const request = read(body(asked));
      request.temperature = 0.5;
      expect(JSON.parse(request.outbound({ ...AS_IT_IS, sampling: false }))).not.toHaveProperty("temperature");
      expect(request.sentSettings({ ...AS_IT_IS, sampling: false }).temperature).toBeNull();
    }
    expect(JSON.parse(read(body({ temperature: 1 })).outbound({ ...AS_IT_IS, sampling: false })).temperature).toBe(1);
  });

  test.each([
    { thinking: { type: "enabled", budget_tokens: 2_000 }, max_tokens: 4_000 },
    { thinking: { type: "adaptive" } },
    { thinking: { type: "adaptive" }, temperature: 1 },
  ])("leaves out a configured temperature next to thinking: %j", (asked) => {
    const request = read(body(asked));
    request.temperature = 0.5;
    expect(JSON.parse(request.outbound(AS_IT_IS)).temperature).toBeUndefined();
    expect(request.sentSettings(AS_IT_IS).temperature).toBeNull();
  });

  test("drops top_p next to a configured temperature for models that refuse both", () => {
    const sent = (name: string, asked: object) => {
      const request = read(body(asked));
      request.temperature = 0.5;
      const { temperature, top_p } = JSON.parse(request.outbound({ ...AS_IT_IS, model: name }));
      return [temperature, top_p];
    };
    expect(sent("claude-sonnet-4-5", { top_p: 0.9 })).toEqual([0.5, undefined]);
    expect(sent("claude-3-haiku-20240307", { top_p: 0.9 })).toEqual([0.5, 0.9]);
    expect(sent("claude-sonnet-4-5", { thinking: { type: "disabled" } })).toEqual([0.5, undefined]);
  });

  test("leaves out a default temperature where the vendor refuses it", () => {
    expect(JSON.parse(read(body({}), { maxTokensRequired: true, version: "2026-10-21" }).outbound(DEFAULTS)).temperature).toBeUndefined();
    expect(JSON.parse(read(body({}), { maxTokensRequired: true, version: "2023-06-01" }).outbound(DEFAULTS)).temperature).toBe(0.2);
    const thinking = read(body({ thinking: { type: "adaptive" } }));
    expect(JSON.parse(thinking.outbound(DEFAULTS)).temperature).toBeUndefined();
    const nucleus = read(body({ top_p: 0.5 }));
    const claude = { ...DEFAULTS, model: "claude-sonnet-4-5" };
    expect(JSON.parse(nucleus.outbound(claude)).temperature).toBeUndefined();
    expect(nucleus.sentSettings(claude).temperature).toBeNull();
    expect(JSON.parse(nucleus.outbound({ ...DEFAULTS, model: "claude-3-haiku-20240307" })).temperature).toBe(0.2);
    const counted = read('{"model":"m","messages":[{"role":"user","content":"hi"}]}', { maxTokensRequired: false });
    expect(JSON.parse(counted.outbound(DEFAULTS))).toEqual({ system: "House.", model: "m", messages: [{ role: "user", content: "hi" }] });
  });

  test("has only the set members changed", () => {
    const request = read('{"model":"m", "temperature":1.0, "max_tokens":9, "messages":[{"role":"user","content":"hi"}]}');
    request.temperature = 0.3;
    request.maxTokens = 5;
    expect(request.outbound({ model: "m", ...UNCHANGED })).toBe(
      '{"model":"m", "temperature":0.3, "max_tokens":5, "messages":[{"role":"user","content":"hi"}]}',
    );
    request.temperature = null;
    expect(request.temperature).toBeNull();
  });
});

describe("governance of a Messages request", () => {
  test("finds every text in order, each replaceable in place", () => {
    const request = read(
      JSON.stringify({
        model: "m",
        max_tokens: 9,
        system: [{ type: "text", text: "s1" }],
        messages: [
          { role: "user", content: "u1" },
          { role: "system", content: "s2" },
          {
            role: "assistant",
            content: [
              { type: "thinking", thinking: "t1", signature: "S" },
              { type: "redacted_thinking", data: "hidden" },
              { type: "text", text: "a1" },
              { type: "tool_use", id: "c", name: "n", input: { q: "a2" } },
              { type: "server_tool_use", id: "d", name: "web_search", input: { query: "a3" } },
              {
                type: "web_search_tool_result",
                tool_use_id: "d",
                content: [{ type: "web_search_result", title: "r1", url: "https://x", encrypted_content: "hidden" }],
              },
            ],
          },
          {
            role: "user",
            content: [
              { type: "tool_result", tool_use_id: "c", content: "r2" },
              {
                type: "tool_result",
                tool_use_id: "c2",
                content: [
                  { type: "text", text: "r3" },
                  { type: "document", source: { type: "text", media_type: "text/plain", data: "r4" } },
                ],
              },
              { type: "image", source: { type: "base64", media_type: "image/png", data: "hidden" } },
              { type: "document", title: "d1", context: "d2", source: { type: "content", content: [{ type: "text", text: "d3" }] } },
              { type: "document", source: { type: "base64", media_type: "application/pdf", data: "hidden" } },
              { type: "search_result", source: "f1", title: "f2", content: [{ type: "text", text: "f3" }] },
              { type: "made_up_next_year", text: "x1" },
            ],
          },
        ],
      }),
    );
    const slots = request.texts();
    expect(slots.map(({ role, text }) => `${role} ${text}`)).toEqual([
      "system s1",
      "user u1",
      "system s2",
      "assistant t1",
      "assistant a1",
      'assistant {"q":"a2"}',
      'assistant {"query":"a3"}',
      "tool r1",
      "tool r2",
      "tool r3",
      "tool r4",
      "user d1",
      "user d2",
      "user d3",
      "user f1",
      "user f2",
      "user f3",
      "user x1",
    ]);
    expect(request.inputCharacters).toBe(slots.reduce((sum, { text }) => sum + text.length, 0));
    expect(request.instructions).toBe("s1\ns2");
    for (const slot of slots) slot.replace(slot.kind === "arguments" ? '{"q":"***"}' : "***");
    expect(request.texts().every(({ text }) => text.includes("***"))).toBe(true);
    const out = request.outbound({ model: "m", ...UNCHANGED });
    expect(out).not.toMatch(/"[sutardf]\d"/);
    // Changed thinking cannot keep its signature.
    expect(JSON.parse(out).messages[2].content[0]).toEqual({ type: "text", text: "***" });
    expect(out.match(/hidden/g)).toHaveLength(4);
  });

  test("rewrites only the member with the replaced text", () => {
    const text = '{"model":"m","max_tokens":9,"system": "a" ,"messages":[ {"role":"user","content":"b"} ]}';
    const request = read(text);
    request.texts()[0]!.replace("z");
    expect(request.outbound({ model: "m", ...UNCHANGED })).toBe(text.replace('"a"', '"z"'));
  });

  test("finds tools by name, and removes a tool choice together with its tool", () => {
    const tools = [{ name: "a", input_schema: {} }, { type: "web_search_20260318", name: "web_search" }, { type: "browser_20260801" }];
    const request = read(body({ tools, tool_choice: { type: "tool", name: "a" } }));
    expect(request.tools).toEqual(["a", "web_search", "browser_20260801"]);
    request.removeTools(new Set(["none"]));
    expect(request.body.tool_choice).toBeDefined();
    request.removeTools(new Set(["a", "browser_20260801"]));
    expect(request.body).toMatchObject({ tools: [tools[1]] });
    expect(request.body.tool_choice).toBeUndefined();
    request.removeTools(new Set(["web_search"]));
    expect(JSON.parse(request.outbound({ model: "m", ...UNCHANGED })).tools).toBeUndefined();
  });

  test("counts MCP servers called by the vendor as the tool mcp_toolset, with or without such a tool", () => {
    const servers = { mcp_servers: [{ type: "url", url: "https://tools.example", name: "s" }] };
    const bare = read(body(servers));
    expect(bare.tools).toEqual(["mcp_toolset"]);
    bare.removeTools(new Set(["mcp_toolset"]));
    expect(bare.outbound({ model: "m", ...UNCHANGED })).toBe(body({}));
    const named = read(
      body({
        ...servers,
        tools: [
          { type: "mcp_toolset", mcp_server_name: "s" },
          { name: "a", input_schema: {} },
        ],
      }),
    );
    expect(named.tools).toEqual(["mcp_toolset", "a"]);
    named.removeTools(new Set(["mcp_toolset"]));
    expect(named.body.mcp_servers).toBeUndefined();
    expect(named.tools).toEqual(["a"]);
    expect(read(body({ mcp_servers: [] })).tools).toEqual([]);
  });

  test("finds and removes tools added between messages", () => {
    const added = (tool: object) => ({ role: "system", content: [{ type: "tool_addition", tool }] });
    const definition = { name: "run_sql", description: "Runs SQL.", input_schema: { type: "object" } };
    const hi = { role: "user", content: "hi" };
    const more = {
      role: "system",
      content: [
        { type: "text", text: "More." },
        { type: "tool_addition", tool: { type: "tool_reference", name: "late" } },
      ],
    };
    const request = read(
      body({
        messages: [hi, added({ type: "tool_definition", definition }), more],
        tools: [{ name: "late", input_schema: {}, defer_loading: true }],
        tool_choice: { type: "tool", name: "run_sql" },
      }),
    );
    expect(request.tools).toEqual(["late", "run_sql", "late"]);
    expect(request.texts().map(({ role, text }) => [role, text])).toContainEqual(["tool_definition", "Runs SQL."]);
    request.removeTools(new Set(["run_sql"]));
    expect(request.tools).toEqual(["late", "late"]);
    const left = JSON.parse(request.outbound({ model: "m", ...UNCHANGED }));
    expect([left.messages, left.tools.length, left.tool_choice]).toEqual([[hi, more], 1, undefined]);
    request.removeTools(new Set(["late"]));
    expect(request.body).toMatchObject({ messages: [hi, { role: "system", content: [{ type: "text", text: "More." }] }] });
    expect(request.outbound({ model: "m", ...UNCHANGED })).not.toContain("late");
  });

  test("finds and removes tools added within a compaction summary", () => {
    const kept = { type: "tool_removal", tool: { type: "tool_reference", name: "other" } };
    const definition = { name: "run_sql", input_schema: { type: "object" } };
    const summary = (...changes: object[]) => ({
      role: "user",
      content: [{ type: "compaction", content: "Earlier.", tool_changes: changes }],
    });
    const request = read(body({ messages: [summary({ type: "tool_addition", tool: { type: "tool_definition", definition } }, kept)] }));
    expect(request.tools).toEqual(["run_sql"]);
    request.removeTools(new Set(["run_sql"]));
    expect(request.tools).toEqual([]);
    expect(JSON.parse(request.outbound({ model: "m", ...UNCHANGED })).messages).toEqual([summary(kept)]);
  });

  test("adds instructions before and after the caller's own", () => {
    const request = read(body({ system: [{ type: "text", text: "own", cache_control: { type: "ephemeral" } }] }));
    request.addInstructions(["first"], ["last"]);
    expect(request.instructions).toBe("first\nown\nlast");
    const bare = read(body({}));
    expect(bare.instructions).toBeNull();
    bare.addInstructions(["a"], ["b"]);
    expect(bare.body.system).toBe("a\n\nb");
  });

  test("throws if a tool input is replaced by text that is no JSON", () => {
    const request = read(body({ messages: [{ role: "assistant", content: [{ type: "tool_use", id: "c", name: "n", input: {} }] }] }));
    expect(() => request.texts()[0]!.replace("***")).toThrow();
  });
});

describe("an invalid Messages request", () => {
  const fieldsOf = (text: string, reading: MessagesReading = { maxTokensRequired: true }) => {
    const request = readMessagesRequest(encoder.encode(text), reading);
    return "fields" in request ? request.fields.map(({ field }) => field) : [];
  };

  test.each<[string, string[]]>([
    ["nonsense", [""]],
    ["[]", [""]],
    ['{"max_tokens":1,"messages":[{"role":"user","content":"x"}]}', ["model"]],
    [body({ model: 7 }), ["model"]],
    [body({ max_tokens: undefined }), ["max_tokens"]],
    [body({ max_tokens: 1.5 }), ["max_tokens"]],
    [body({ stream: "yes" }), ["stream"]],
    [body({ temperature: "hot" }), ["temperature"]],
    [body({ tools: {} }), ["tools"]],
    [body({ tools: ["a", { name: 7 }] }), ["tools[0]", "tools[1].name"]],
    [body({ system: 7 }), ["system"]],
    [body({ system: [{ type: "text" }] }), ["system[0].text"]],
    [body({ messages: [] }), ["messages"]],
    [body({ messages: ["x", { content: "x" }, { role: "user" }] }), ["messages[0]", "messages[1].role", "messages[2].content"]],
    [
      body({
        messages: [{ role: "user", content: [{ type: "text", text: 7 }, "x", {}, { type: "tool_result", content: [{ type: "text" }] }] }],
      }),
      ["messages[0].content[0].text", "messages[0].content[1]", "messages[0].content[2].type", "messages[0].content[3].content[0].text"],
    ],
    ['{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"x"}],"max_tokens":2}', ["max_tokens"]],
  ])("%s is refused, naming its fields", (text, fields) => {
    expect(fieldsOf(text)).toEqual(fields);
  });

  test("for counting needs no max_tokens, and optional members may be null", () => {
    expect(
      fieldsOf('{"model":"m","messages":[{"role":"user","content":"x"}],"stream":null,"temperature":null,"tools":null}', {
        maxTokensRequired: false,
      }),
    ).toEqual([]);
  });

  test("is refused for members that its anthropic-version does not accept", () => {
    const refused = {
      temperature: 1,
      top_p: 0.5,
      top_k: null,
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "x", citations: [{}] },
            { type: "text", text: "y", citations: [] },
            { type: "search_result", content: [{ type: "text", text: "z", citations: [{}] }] },
          ],
        },
        { role: "assistant", content: [{ type: "document" }, { type: "text", text: "w", citations: [{}] }] },
      ],
    };
    expect(versionProblems(refused, "2023-06-01")).toEqual([]);
    expect(versionProblems(refused, "2026-10-21").map(({ field }) => field)).toEqual([
      "temperature",
      "top_p",
      "messages[0].content[0].citations",
      "messages[0].content[2].content[0].citations",
      "messages[1].content[0]",
    ]);
    expect(versionProblems({ temperature: 1 }, "2026-10-21")).toEqual([
      { field: "temperature", message: "Extra inputs are not permitted" },
    ]);
    expect(fieldsOf(body({ temperature: 1 }), { maxTokensRequired: true, version: "2026-10-21" })).toEqual(["temperature"]);
  });
});

test("the estimate of input tokens grows with texts, tools, images and documents", () => {
  const estimate = (more: object) => estimateInputTokens(JSON.parse(body(more)));
  const base = estimate({});
  expect(base).toBeGreaterThan(1);
  expect(estimate({ system: "x".repeat(400) })).toBe(base + 100);
  expect(estimate({ system: "漢".repeat(400) })).toBe(base + 400);
  expect(estimate({ tools: [{ name: "a", input_schema: { type: "object" } }] })).toBeGreaterThan(base + 300);
  const described = { name: "a", description: "x".repeat(4000), input_schema: { type: "object" } };
  expect(estimate({ tools: [described] }) - estimate({ tools: [{ ...described, description: "" }] })).toBe(1000);
  const withBlock = (block: object) => estimate({ messages: [{ role: "user", content: [{ type: "text", text: "hi" }, block] }] });
  expect(withBlock({ type: "image", source: { type: "url", url: "https://x" } })).toBe(base + 1600);
  expect(withBlock({ type: "document", source: { type: "base64", data: "A".repeat(300_000) } })).toBe(base + 9000);
  expect(withBlock({ type: "document", source: { type: "text", data: "x".repeat(400) } })).toBe(base + 100);
});
