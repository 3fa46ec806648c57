import { describe, expect, test } from "bun:test";
import type { ConversationRequest, Turn } from "../conversation/request.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { messagesCodec } from "./messages-codec.ts";
import { TARGET, COUNTS, BARE, PNG } from "../../../tests/support/formats/messages-codec-parts.ts";

const HARD = { effort: "high", budgetTokens: null, visible: null } as const;

describe("writing a request of another format as a Messages request", () => {
  const write = (more: Partial<ConversationRequest>, target = TARGET) => {
    const written = messagesCodec.writeRequest({ ...BARE, ...more }, target);
    if ("unsupported" in written) throw new Error(JSON.stringify(written.unsupported));
    return written;
  };
  const refused = (more: Partial<ConversationRequest>) => {
    const written = messagesCodec.writeRequest({ ...BARE, ...more }, TARGET);
    return "unsupported" in written ? written.unsupported.map(({ feature }) => feature) : [];
  };
  const user = (text: string): Turn => ({ role: "user", parts: [{ kind: "text", text }] });
  const call = (id: string): Turn => ({ role: "assistant", parts: [{ kind: "tool_call", id, name: "t", arguments: "{}" }] });
  const result = (callId: string, text = "ok"): Turn => ({
    role: "user",
    parts: [{ kind: "tool_result", callId, toolName: null, content: [{ kind: "text", text }], isError: false }],
  });
  const tool = { name: "t", description: null, schema: null, strict: null };

  test("sets max_tokens, which the vendor requires", () => {
    expect(write({}).body.max_tokens).toBe(4096);
    expect(write({}, { ...TARGET, maxOutputTokens: 64_000 } as never).body.max_tokens).toBe(64_000);
  });

  test("puts the results of parallel calls first, in one user message", () => {
    const { body } = write({
      turns: [
        user("go"),
        { role: "assistant", parts: [...call("a").parts, ...call("b").parts] as never },
        user("wait"),
        result("a"),
        result("b"),
      ],
    });
    expect(body.messages).toEqual([
      { role: "user", content: "go" },
      {
        role: "assistant",
        content: [
          { type: "tool_use", id: "a", name: "t", input: {} },
          { type: "tool_use", id: "b", name: "t", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "a", content: "ok" },
          { type: "tool_result", tool_use_id: "b", content: "ok" },
          { type: "text", text: "wait" },
        ],
      },
    ]);
  });

  test("makes tool call IDs valid and unique, and results follow them", () => {
    const { body } = write({
      turns: [user("go"), call("functions.t:0"), result("functions.t:0", "1"), call("functions.t:0"), result("functions.t:0", "2")],
    });
    const blocks = (body.messages as { content: unknown }[]).slice(1).map(({ content }) => (content as JsonObject[])[0]);
    expect(blocks).toMatchObject([
      { id: "functions_t_0" },
      { tool_use_id: "functions_t_0", content: "1" },
      { id: "functions_t_0_2" },
      { tool_use_id: "functions_t_0_2", content: "2" },
    ]);
  });

  test("writes no blank text and no empty message", () => {
    const { body } = write({
      instructions: [{ kind: "text", text: " " }],
      turns: [
        user("a"),
        { role: "assistant", parts: [{ kind: "text", text: "" }] },
        user("b"),
        { role: "assistant", parts: [{ kind: "tool_call", id: "c", name: "t", arguments: "" }] },
        result("c", ""),
      ],
    });
    expect(body).toEqual({
      model: "claude-opus-5-5",
      max_tokens: 4096,
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "a" },
            { type: "text", text: "b" },
          ],
        },
        { role: "assistant", content: [{ type: "tool_use", id: "c", name: "t", input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "c" }] },
      ],
    });
    expect(refused({ turns: [user("")] })).toEqual(["messages"]);
  });

  test("places system turns within the conversation where the vendor accepts them", () => {
    const system: Turn = { role: "system", parts: [{ kind: "text", text: "S" }] };
    const roles = (turns: Turn[], systemTurns = true) => {
      const { body, dropped } = write({ turns }, { name: TARGET.name, maxOutputTokens: null, systemTurns });
      return { roles: (body.messages as JsonObject[]).map(({ role }) => role), system: body.system, dropped };
    };
    expect(roles([system, user("a")])).toEqual({ roles: ["user"], system: "S", dropped: [] });
    expect(roles([user("a"), call("1"), system, result("1"), call("2")])).toEqual({
      roles: ["user", "assistant", "user", "system", "assistant"],
      system: undefined,
      dropped: [],
    });
    expect(roles([user("a"), system, user("b"), system])).toEqual({ roles: ["user", "system"], system: undefined, dropped: [] });
    expect(roles([user("a"), call("1"), system])).toEqual({ roles: ["user", "assistant"], system: "S", dropped: ["system_turn"] });
    expect(roles([user("a"), system], false)).toEqual({ roles: ["user"], system: "S", dropped: ["system_turn"] });
  });

  test("drops reasoning not signed by the vendor", () => {
    const thoughts = [undefined, { family: "gemini", value: "g" }, { family: "openai", value: "o" }].map((signature) => ({
      kind: "reasoning",
      text: "hm",
      redacted: false,
      signature,
    }));
    const { body } = write({
      turns: [user("a"), { role: "assistant", parts: [...thoughts, { kind: "text", text: "b" }] as never }, user("c")],
    });
    expect((body.messages as JsonObject[])[1]).toEqual({ role: "assistant", content: "b" });
  });

  test("wraps arguments that are no JSON object", () => {
    const { body } = write({
      turns: [user("a"), { role: "assistant", parts: [{ kind: "tool_call", id: "c", name: "t", arguments: '{"a":' }] }],
    });
    expect((body.messages as JsonObject[])[1]).toMatchObject({ content: [{ input: { INVALID_JSON: '{"a":' } }] });
  });

  test.each([
    [{ effort: "none", budgetTokens: null, visible: null }, { thinking: { type: "disabled" } }],
    [
      { effort: "minimal", budgetTokens: null, visible: null },
      { thinking: { type: "adaptive" }, output_config: { effort: "low" } },
    ],
    [
      { effort: "xhigh", budgetTokens: null, visible: true },
      { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "xhigh" } },
    ],
    [{ effort: null, budgetTokens: -1, visible: false }, { thinking: { type: "adaptive", display: "omitted" } }],
    [
      { effort: null, budgetTokens: 9000, visible: null },
      { max_tokens: 4096, thinking: { type: "adaptive" }, output_config: { effort: "high" } },
    ],
  ] as const)("writes reasoning %j for a Claude with adaptive thinking", (reasoning, expected) => {
    expect(write({ reasoning }).body).toMatchObject(expected);
  });

  test.each([
    [{ effort: "none", budgetTokens: null, visible: null }, { thinking: { type: "disabled" } }],
    [
      { effort: "high", budgetTokens: null, visible: true },
      { max_tokens: 20_480, thinking: { type: "enabled", budget_tokens: 16_384, display: "summarized" } },
    ],
    [{ effort: null, budgetTokens: -1, visible: null }, { thinking: { type: "enabled", budget_tokens: 8192 } }],
    [{ effort: null, budgetTokens: 100, visible: null }, { thinking: { type: "enabled", budget_tokens: 1024 } }],
    [
      { effort: null, budgetTokens: 9000, visible: null },
      { max_tokens: 13_096, thinking: { type: "enabled", budget_tokens: 9000 } },
    ],
  ] as const)("writes reasoning %j for a Claude with a thinking budget", (reasoning, expected) => {
    const { body } = write({ reasoning }, COUNTS);
    expect(body).toMatchObject(expected);
    expect(body.output_config).toBeUndefined();
  });

  test("drops reasoning for a Claude without thinking", () => {
    const old = { ...TARGET, name: "claude-3-5-haiku-20241022" };
    expect(write({ reasoning: HARD }, old)).toMatchObject({ dropped: ["reasoning"], body: { max_tokens: 4096 } });
    expect(write({ reasoning: HARD }, old).body.thinking).toBeUndefined();
    expect(write({ reasoning: { ...HARD, effort: "none" } }, old)).toMatchObject({ dropped: [] });
  });

  test.each([TARGET, COUNTS])("drops sampling settings next to thinking (%j)", (target) => {
    const { body, dropped } = write({ reasoning: HARD, temperature: 0.2, topP: 0.5, topK: 5 }, target);
    expect(body).not.toContainAnyKeys(["temperature", "top_p", "top_k"]);
    expect(dropped).toEqual(["temperature", "top_p", "top_k"]);
    expect(write({ reasoning: HARD, temperature: 1, topP: 0.97 }, target)).toMatchObject({ dropped: [], body: { top_p: 0.97 } });
    expect(write({ reasoning: { ...HARD, effort: "none" }, temperature: 0.2 }, target)).toMatchObject({
      dropped: [],
      body: { temperature: 0.2 },
    });
  });

  test("drops thinking for a forced tool call, and for a tool loop without its signed reasoning where required", () => {
    for (const toolChoice of [
      { kind: "required" },
      { kind: "tool", name: "t" },
      { kind: "subset", names: ["t"], required: true },
    ] as const) {
      const { body, dropped } = write({ reasoning: HARD, tools: [tool], toolChoice, temperature: 0.2 });
      expect(dropped).toEqual(["reasoning"]);
      expect(body).toMatchObject({ temperature: 0.2 });
      expect(body).not.toContainAnyKeys(["thinking", "output_config"]);
    }
    const turns = [user("a"), call("1"), result("1")];
    for (const behind of [[], [user("and then?")], [{ role: "system", parts: [{ kind: "text", text: "Be brief." }] } as const]])
      expect(write({ reasoning: HARD, tools: [tool], turns: [...turns, ...behind] }, COUNTS).dropped).toContain("reasoning");
    const over: Turn[] = [...turns, { role: "assistant", parts: [{ kind: "text", text: "Done." }] }, user("thanks")];
    expect(write({ reasoning: HARD, tools: [tool], turns: over }, COUNTS).dropped).not.toContain("reasoning");
    expect(write({ reasoning: HARD, tools: [tool], turns }).body.thinking).toEqual({ type: "adaptive" });
  });

  test("sends the caller's settings unchanged to another vendor's model", () => {
    const { body, dropped } = write(
      { reasoning: { effort: null, budgetTokens: 9000, visible: null }, temperature: 0.2, tools: [tool], toolChoice: { kind: "required" } },
      { ...TARGET, name: "m" },
    );
    expect({ body, dropped }).toMatchObject({
      dropped: [],
      body: { temperature: 0.2, thinking: { type: "enabled", budget_tokens: 9000 } },
    });
  });

  test("keeps the thinking budget below max_tokens", () => {
    expect(write({ maxOutputTokens: 2000, reasoning: { effort: null, budgetTokens: 9000, visible: null } }, COUNTS).body).toMatchObject({
      max_tokens: 2000,
      thinking: { budget_tokens: 1999 },
    });
    expect(write({ maxOutputTokens: 500, reasoning: { effort: null, budgetTokens: 9000, visible: null } }, COUNTS)).toMatchObject({
      dropped: ["reasoning"],
    });
  });

  test("writes tool choices", () => {
    const other = { ...tool, name: "u" };
    const choose = (toolChoice: ConversationRequest["toolChoice"], parallelToolCalls: boolean | null = null) => {
      const { body } = write({ tools: [tool, other], toolChoice, parallelToolCalls });
      return [(body.tools as JsonObject[]).map(({ name }) => name), body.tool_choice];
    };
    expect(choose(null)).toEqual([["t", "u"], undefined]);
    expect(choose(null, false)).toEqual([["t", "u"], { type: "auto", disable_parallel_tool_use: true }]);
    expect(choose({ kind: "none" }, false)).toEqual([["t", "u"], { type: "none" }]);
    expect(choose({ kind: "required" })).toEqual([["t", "u"], { type: "any" }]);
    expect(choose({ kind: "tool", name: "t" })).toEqual([["t", "u"], { type: "tool", name: "t" }]);
    expect(choose({ kind: "subset", names: ["u"], required: true })).toEqual([["u"], { type: "any" }]);
    expect(choose({ kind: "subset", names: ["u"], required: false })).toEqual([["u"], { type: "auto" }]);
    expect(write({ toolChoice: { kind: "auto" } }).body.tool_choice).toBeUndefined();
    expect(write({ tools: [tool] }).body.tools).toEqual([{ name: "t", input_schema: { type: "object", properties: {} } }]);
  });

  test("closes objects of an answer schema, moves refused keywords to descriptions, and asks for JSON mode in text", () => {
    const schema = {
      type: "object",
      properties: {
        n: { type: "integer", minimum: 3, description: "N" },
        list: { type: "array", items: { type: "object", properties: {} } },
        open: { type: "object", additionalProperties: true },
      },
    };
    const { body } = write({ output: { kind: "schema", name: "x", description: null, schema, strict: true } });
    expect(body.output_config).toEqual({
      format: {
        type: "json_schema",
        schema: {
          type: "object",
          properties: {
            n: { type: "integer", description: "N\n\n{minimum: 3}" },
            list: { type: "array", items: { type: "object", properties: {}, additionalProperties: false } },
            open: { type: "object", additionalProperties: true },
          },
          additionalProperties: false,
        },
      },
    });
    const json = write({ output: { kind: "json" } });
    expect(json.dropped).toEqual(["output"]);
    expect(json.body.output_config).toBeUndefined();
    expect(json.body.system).toContain("JSON object");
  });

  test("writes supported images and files, and refuses others", () => {
    const part = (more: object) => {
      const { body } = write({ turns: [{ role: "user", parts: [more as never] }] });
      return (body.messages as { content: JsonObject[] }[])[0]!.content[0];
    };
    expect(part({ kind: "image", source: { url: `data:image/jpg;base64,/9j/AA` }, mediaType: null })).toEqual({
      type: "image",
      source: { type: "base64", media_type: "image/jpeg", data: "/9j/AA" },
    });
    expect(part({ kind: "image", source: { base64: PNG }, mediaType: null })).toMatchObject({ source: { media_type: "image/png" } });
    expect(part({ kind: "file", source: { base64: btoa("a,b") }, mediaType: "text/csv", name: "t.csv" })).toEqual({
      type: "document",
      source: { type: "text", media_type: "text/plain", data: "a,b" },
      title: "t.csv",
    });
    expect(part({ kind: "file", source: { fileId: "file_011" }, mediaType: null, name: null })).toEqual({
      type: "document",
      source: { type: "file", file_id: "file_011" },
    });
    const none = { mediaType: null, name: null };
    expect(refused({ turns: [{ role: "user", parts: [{ kind: "file", source: { fileId: "file-abc" }, ...none }] }] })).toEqual(["file"]);
    expect(
      refused({ turns: [{ role: "user", parts: [{ kind: "file", source: { base64: "UEsDB" }, ...none, mediaType: "application/zip" }] }] }),
    ).toEqual(["file"]);
    expect(
      refused({ turns: [{ role: "user", parts: [{ kind: "image", source: { base64: "PHN2" }, mediaType: "image/svg+xml" }] }] }),
    ).toEqual(["image"]);
    expect(refused({ turns: [{ role: "user", parts: [{ kind: "audio", base64: "AA", mediaType: "audio/wav" }] }] })).toEqual(["audio"]);
  });

  test("trims trailing whitespace only of the assistant text that the model continues", () => {
    const prefilled = (text: string): Turn => ({ role: "assistant", parts: [{ kind: "text", text }] });
    expect(write({ turns: [user("a "), prefilled("Say: \n"), user("b "), prefilled("Say: \n")] }).body.messages).toEqual([
      { role: "user", content: "a " },
      { role: "assistant", content: "Say: \n" },
      { role: "user", content: "b " },
      { role: "assistant", content: "Say:" },
    ]);
  });

  test("reports harmless losses, and refuses what would change the answer", () => {
    expect(write({ seed: 1, presencePenalty: 0.1, frequencyPenalty: 0, endUser: "a@b.example" })).toMatchObject({
      dropped: ["seed", "presence_penalty", "end_user"],
    });
    expect(refused({ temperature: 1.5 })).toEqual(["temperature"]);
    expect(refused({ candidates: 2 })).toEqual(["candidates"]);
    expect(refused({ logprobs: 0 })).toEqual(["logprobs"]);
    expect(refused({ stop: ["\n"] })).toEqual(["stop"]);
    expect(refused({ toolChoice: { kind: "required" } })).toEqual(["tool_choice"]);
    expect(refused({ tools: [{ ...tool, name: "a.b" }] })).toEqual(["tools"]);
    expect(write({ candidates: 1 })).toMatchObject({ dropped: [] });
  });

  test.each([
    ["claude-sonnet-4-5", { temperature: 0.2, topP: 0.5 }, { temperature: 0.2 }, ["top_p"]],
    ["claude-opus-4-1-20250805", { temperature: 0.2, topP: 1 }, { temperature: 0.2 }, []],
    ["claude-sonnet-5", { temperature: 1, topP: 0.5 }, { top_p: 0.5 }, []],
    ["claude-sonnet-4-5", { temperature: null, topP: 0.5 }, { top_p: 0.5 }, []],
    ["claude-sonnet-4-20250514", { temperature: 0.2, topP: 0.5 }, { temperature: 0.2, top_p: 0.5 }, []],
    ["claude-3-7-sonnet-latest", { temperature: 0.2, topP: 0.5 }, { temperature: 0.2, top_p: 0.5 }, []],
    ["glm-5", { temperature: 0.2, topP: 0.5 }, { temperature: 0.2, top_p: 0.5 }, []],
  ] as const)("for %s, writes %j as %j, depending on whether temperature and top_p may be combined", (name, asked, told, dropped) => {
    const written = write(asked, { ...TARGET, name });
    const { temperature, top_p } = written.body;
    expect({ ...(temperature !== undefined && { temperature }), ...(top_p !== undefined && { top_p }) }).toEqual({ ...told } as never);
    expect(written.dropped).toEqual([...dropped]);
  });

  test("keeps the last four cache marks", () => {
    const marked = (text: string) => ({ kind: "text", text, cache: { ttl: "5m" } }) as const;
    const { body, dropped } = write({
      instructions: [marked("1"), marked("2")],
      turns: [{ role: "user", parts: [marked("3"), marked("4"), marked("5")] }],
    });
    expect(dropped).toEqual(["cache"]);
    expect(body.system).toEqual([
      { type: "text", text: "1" },
      { type: "text", text: "2", cache_control: { type: "ephemeral" } },
    ]);
  });
});
