import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rowOf } from "../../support/worlds/admin.ts";
import { PRICED, type LimitedTeam, type LimitedWorld, startLimitedWorld } from "../../support/worlds/limited-world.ts";

/** What a group governs about request parameters, on every text surface. */

let world: LimitedWorld["world"];
let served: LimitedWorld["served"];
let team: LimitedWorld["team"];
let patch: LimitedWorld["patch"];
let limit: LimitedWorld["limit"];
let chat: LimitedWorld["chat"];

beforeAll(async () => {
  ({ world, served, team, patch, limit, chat } = await startLimitedWorld());
});
afterAll(() => world.end());

const withParameters = (parameters: object) => ({ tools: [{ type: "function", function: { name: "find", parameters } }] });

/** Members of a chat request through which words reach the model as definitions. */
const DEFINED: readonly (readonly [string, (words: string) => object])[] = [
  [
    "the description in an answer schema",
    (words) => ({ response_format: { type: "json_schema", json_schema: { name: "a", schema: { type: "object", description: words } } } }),
  ],
  [
    "the description of an answer",
    (words) => ({ response_format: { type: "json_schema", json_schema: { name: "a", description: words } } }),
  ],
  ["a grammar", (words) => ({ response_format: { type: "grammar", grammar: `root ::= "${words}"` } })],
  ...(["title", "default", "enum", "examples"] as const).map((name): [string, (words: string) => object] => [
    `the ${name} of a tool's parameter`,
    (words) => {
      const q = { type: "string", [name]: name === "enum" || name === "examples" ? [words] : words };
      return withParameters({ type: "object", properties: { q } });
    },
  ]),
  ["a list beside a tool's schema", (words) => ({ tools: [{ type: "function", function: { name: "find", notes: [words] } }] })],
  ["a text in the place of a tool's parameter", (words) => withParameters({ type: "object", properties: { q: words } })],
  ["a text in the place of all parameters", (words) => withParameters({ type: "object", properties: words })],
  ["the name of a tool's parameter", (words) => withParameters({ type: "object", properties: { [words]: { type: "string" } } })],
  ["a parameter that must be given", (words) => withParameters({ type: "object", required: ["q", words] })],
  ["the pattern of a tool's parameter", (words) => withParameters({ type: "object", properties: { q: { pattern: `^${words} $` } } })],
];

describe("parameter governance", () => {
  test("text in tool and schema definitions is checked for banned patterns and counted as input", async () => {
    const a = await team("definitions");
    const governance = { context_window: { max_input_tokens: 200 }, system_prompt: { banned_patterns: ["(?i)titan"] } };
    expect((await patch(a.id, "llm-global-governance", { governance })).status).toBe(200);
    const answers: Record<string, readonly [number, number, number]> = {};
    const { length } = world.upstream.seen;
    for (const [name, more] of DEFINED) {
      const [banned, long, short] = [
        await chat(a.key, more("Project Titan")),
        await chat(a.key, more("word ".repeat(400))),
        await chat(a.key, more("word")),
      ];
      answers[name] = [banned.status, long.status, short.status];
    }
    expect(answers).toEqual(Object.fromEntries(DEFINED.map(([name]) => [name, [403, 400, 200] as const])));
    expect(world.upstream.seen).toHaveLength(length + DEFINED.length);
  });

  test("text files count as input on every surface", async () => {
    const a = await team("files");
    expect((await patch(a.id, "llm-global-governance", { governance: { context_window: { max_input_tokens: 200 } } })).status).toBe(200);
    const read = async (words: string) => {
      const data = Buffer.from(words).toString("base64");
      const address = `data:text/plain;base64,${data}`;
      const asked: readonly (readonly [path: string, body: object])[] = [
        [
          "proxy/llm/chat/completions",
          { messages: [{ role: "user", content: [{ type: "file", file: { filename: "a.txt", file_data: address } }] }] },
        ],
        ["proxy/llm/responses", { input: [{ role: "user", content: [{ type: "input_file", filename: "a.txt", file_data: address }] }] }],
        [
          "messages",
          {
            max_tokens: 5,
            messages: [{ role: "user", content: [{ type: "document", source: { type: "text", media_type: "text/plain", data: words } }] }],
          },
        ],
      ];
      return Promise.all(
        asked.map(async ([path, body]) => {
          const reply = await fetch(`${world.gateway.runtimeUrl}/v1/${path}`, {
            method: "POST",
            headers: { "content-type": "application/json", "x-api-key": a.key, "anthropic-version": "2023-06-01" },
            body: JSON.stringify({ model: "fake-1", ...body }),
          });
          return reply.status;
        }),
      );
    };
    expect(await read("word ".repeat(2_000))).toEqual([400, 400, 400]);
    expect(await read("word")).toEqual([200, 200, 200]);
  });

  test("arguments of earlier tool calls are checked for banned patterns after their escapes are decoded", async () => {
    const a = await team("escaped-arguments");
    const governance = { system_prompt: { banned_patterns: ["(?i)titan"] } };
    expect((await patch(a.id, "llm-global-governance", { governance })).status).toBe(200);
    const called = (given: string) =>
      chat(a.key, {
        messages: [
          { role: "user", content: "hi" },
          { role: "assistant", tool_calls: [{ id: "c", type: "function", function: { name: "find", arguments: given } }] },
          { role: "tool", tool_call_id: "c", content: "nothing" },
        ],
      });
    expect((await called('{"q":"\\u0074itan"}')).status).toBe(403);
    expect((await called('{"q":"\\u0074ables"}')).status).toBe(200);
  });

  test("too high values are clamped and named in a header; the rest passes byte for byte", async () => {
    const a = await team("clamp-a");
    expect(
      (
        await patch(a.id, "llm-global-governance", {
          governance: { temperature: { max: 0.5 }, context_window: { max_output_tokens: 100 }, tool_use: { blocked_tools: ["shell"] } },
        })
      ).status,
    ).toBe(200);
    const tool = (name: string) => ({ type: "function", function: { name } });
    const reply = await chat(a.key, {
      temperature: 0.9,
      max_tokens: 500,
      top_p: 0.25,
      tools: [tool("weather"), tool("shell")],
      tool_choice: tool("shell"),
    });
    expect([reply.status, reply.headers.get("x-gw-parameters-clamped")]).toEqual([200, "temperature, max_tokens, tools"]);
    expect(world.upstream.seen.at(-1)?.body).toBe(
      '{"model":"fake-1","messages":[{"role":"user","content":"hi"}],"temperature":0.5,"max_tokens":100,"top_p":0.25,"tools":[{"type":"function","function":{"name":"weather"}}]}',
    );
    const untouched = await chat(a.key, { temperature: 0.1, max_tokens: 50 });
    expect(untouched.headers.get("x-gw-parameters-clamped")).toBeNull();
  });

  test("a blocked tool is removed whichever of its names matches", async () => {
    const a = await team("two-names");
    await patch(a.id, "llm-global-governance", { governance: { tool_use: { blocked_tools: ["shell", "code_interpreter"] } } });
    const inner = { name: "weather", parameters: { type: "object" } };
    const asked: readonly (readonly [path: string, tool: object])[] = [
      ["responses", { type: "function", name: "shell", function: inner, parameters: { type: "object" } }],
      ["responses", { type: "shell", name: "weather" }],
      ["chat/completions", { type: "custom", function: inner, custom: { name: "shell" } }],
      ["chat/completions", { type: "code_interpreter", name: "weather" }],
    ];
    for (const [path, tool] of asked) {
      const reply = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-api-key": a.key },
        body: JSON.stringify({ model: "fake-1", input: "hi", messages: [{ role: "user", content: "hi" }], tools: [tool] }),
      });
      expect([reply.status, reply.headers.get("x-gw-parameters-clamped")]).toEqual([200, "tools"]);
      expect(world.upstream.seen.at(-1)?.body).not.toContain("tools");
    }
  });

  test("stored prompts are refused where tools are blocked, and vendor IDs where the policy refuses them", async () => {
    const [ruled, sharing, free] = [await team("kept-ruled"), await team("kept-sharing"), await team("kept-free")];
    await patch(ruled.id, "llm-global-governance", { governance: { tool_use: { blocked_tools: ["shell"] } } });
    expect((await patch(sharing.id, "llm-global-governance", { governance: { tool_use: { vendor_ids: "refuse" } } })).status).toBe(200);
    const ask = async (key: string, members: object) => {
      const path = "messages" in members ? "chat/completions" : "responses";
      const reply = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-api-key": key },
        body: JSON.stringify({ model: "fake-1", ...members }),
      });
      const body = (await reply.json()) as { code?: string; error?: unknown };
      return [reply.status, body.code, /`(.+?)`/.exec(String(body.error))?.[1]];
    };
    const refused = (field: string) => [400, "parameter_rejected", field];
    const template = { input: "hi", prompt: { id: "pmpt_1" } };
    const file = { messages: [{ role: "user", content: [{ type: "file", file: { file_id: "file-of-somebody" } }] }] };
    expect(await ask(ruled.key, template)).toEqual(refused("prompt"));
    expect((await ask(ruled.key, file))[0]).toBe(200);
    expect(await ask(sharing.key, template)).toEqual(refused("prompt"));
    expect(await ask(sharing.key, file)).toEqual(refused("messages[0].content[0].file.file_id"));
    expect((await ask(free.key, file))[0]).toBe(200);
  });

  test("enforce reject refuses, mandatory fragments are added, and banned patterns are refused", async () => {
    const a = await team("reject-a");
    const governance = {
      temperature: { max: 0.5, enforce: "reject" },
      system_prompt: { prepend: ["Be kind."], append: ["Be brief."], banned_patterns: ["(?i)secret\\s+sauce"] },
    };
    expect((await patch(a.id, "llm-global-governance", { governance })).status).toBe(200);
    const large = await patch(a.id, "llm-global-governance", {
      governance: { system_prompt: { banned_patterns: ["ok", "(x{1,30}){1,30}y"] } },
    });
    expect([large.status, JSON.stringify(large.body)]).toEqual([
      400,
      expect.stringContaining('"field":"governance.system_prompt.banned_patterns.1","message":"is too large a pattern'),
    ]);
    const hot = await chat(a.key, { temperature: 0.9 });
    expect([hot.status, hot.body]).toEqual([
      400,
      {
        error: "A parameter is outside what the resource group allows. `temperature` must be at most 0.5 in this resource group.",
        code: "parameter_rejected",
        type: "invalid_request_error",
      },
    ]);
    expect(await rowOf(world.admin, { resource_group_id: a.id, error_type: "parameter_rejected" })).toMatchObject({
      error_message: "A parameter is outside what the resource group allows. (temperature must be at most 0.5 in this resource group)",
    });
    for (const hidden of [
      { messages: [{ role: "user", content: ["the SECRET", " sauce"].map((text) => ({ type: "text", text })) }] },
      { messages: [{ role: "user", content: ["the secret", "sauce"].map((text) => ({ type: "text", text })) }] },
      { messages: [{ role: "user", name: "secret sauce", content: "hi" }] },
    ])
      expect((await chat(a.key, { temperature: 0, ...hidden })).status).toBe(403);
    const sauce = await chat(a.key, {
      temperature: 0,
      messages: [{ role: "user", content: [{ type: "text", text: "the SECRET  sauce" }] }],
    });
    expect([sauce.status, sauce.body]).toEqual([
      403,
      {
        error: {
          code: "guardrail_blocked",
          message: "The request holds text that the resource group bans.",
          guardrail: "parameter governance",
          check: "banned_pattern",
          direction: "input",
        },
      },
    ]);
    expect(
      (
        await chat(a.key, {
          temperature: 0,
          messages: [
            { role: "system", content: "Mine." },
            { role: "user", content: "hi" },
          ],
        })
      ).status,
    ).toBe(200);
    expect(JSON.parse(world.upstream.seen.at(-1)?.body ?? "").messages.map(({ content }: { content: string }) => content)).toEqual([
      "Be kind.",
      "Mine.",
      "Be brief.",
      "hi",
    ]);
  });
});

describe("the temperature of calls to a routing group", () => {
  const bodyOf = async (members: readonly object[], governance: object, body: object) => {
    const id = `routed-${crypto.randomUUID()}`;
    const { admin } = world;
    await admin.post("/v1/admin/llm-router/routing-groups", { tenant_id: "default", id, routing_strategy: "ordered", retry_after: 0 });
    for (const [at, member] of members.entries())
      await admin.post("/v1/admin/llms", {
        tenant_id: "default",
        name: `${id}-${at}`,
        provider: "fake",
        mode: "chat",
        routing_group_id: id,
        routing_weight: members.length - at,
        group_ids: [served.groupId],
        ...member,
      });
    const a = await team(id);
    expect((await patch(a.id, "llm-global-governance", { governance })).status).toBe(200);
    const reply = await chat(a.key, { model: id, ...body });
    return {
      status: reply.status,
      callId: reply.headers.get("x-request-id"),
      clamped: reply.headers.get("x-gw-parameters-clamped"),
      sent: JSON.parse(world.upstream.seen.at(-1)?.body ?? ""),
    };
  };
  const broken = { model_name: "broken", default_temperature: 0.2 };

  test.each([
    ["the model's own default", 1.5],
    ["the vendor's default", null],
  ])("stays under the ceiling whichever member serves the call, with %s as default", async (_whose, temperature) => {
    const members = [broken, { model_name: "fake-1", default_temperature: temperature }];
    const reply = await bodyOf(members, { temperature: { max: 0.5 } }, {});
    expect(reply).toMatchObject({ status: 200, clamped: "temperature", sent: { model: "fake-1", temperature: 0.5 } });
  });

  test.each([
    ["no temperature", {}],
    ["a temperature above the ceiling", { temperature: 1 }],
  ])("is not added for a member that takes none, if the caller sent %s", async (_what, body) => {
    const members = [{ model_name: "broken" }, { model_name: "fake-1", supports_sampling: false }];
    const reply = await bodyOf(members, { temperature: { max: 0.5 } }, body);
    expect(reply.sent).toMatchObject({ model: "fake-1" });
    expect(reply.sent).not.toHaveProperty("temperature");
    expect((await rowOf(world.admin, { id: reply.callId })).llm_temperature).toBeNull();
  });
});

/** The same question on every text surface. */
const ASKED: readonly [surface: string, path: string, body: (text: string) => object][] = [
  [
    "chat",
    "/v1/proxy/llm/chat/completions",
    (text) => ({
      model: "fake-1",
      messages: [{ role: "user", content: text }],
      temperature: 0.9,
      max_tokens: 500,
      tools: [{ type: "function", function: { name: "shell" } }],
    }),
  ],
  [
    "responses",
    "/v1/proxy/llm/responses",
    (text) => ({
      model: "fake-1",
      input: text,
      temperature: 0.9,
      max_output_tokens: 500,
      tools: [{ type: "function", name: "shell", parameters: {} }],
    }),
  ],
  [
    "messages",
    "/v1/messages",
    (text) => ({
      model: "fake-1",
      max_tokens: 500,
      temperature: 0.9,
      messages: [{ role: "user", content: text }],
      tools: [{ name: "shell", input_schema: { type: "object" } }],
    }),
  ],
  [
    "gemini",
    "/v1beta/models/fake-1:generateContent",
    (text) => ({
      contents: [{ role: "user", parts: [{ text }] }],
      generationConfig: { temperature: 0.9, maxOutputTokens: 500 },
      tools: [{ functionDeclarations: [{ name: "shell" }] }],
    }),
  ],
  ["completions", "/v1/proxy/llm/completions", (text) => ({ model: "writes", prompt: text, temperature: 0.9, max_tokens: 500 })],
  ["embeddings", "/v1/proxy/llm/embeddings", (text) => ({ model: "embeds", input: text })],
];

describe("on every text surface", () => {
  let governed: LimitedTeam;
  let strict: LimitedTeam;
  let spent: LimitedTeam;
  let locked: LimitedTeam;
  const ask = async ({ key }: LimitedTeam, path: string, body: object) => {
    const response = await fetch(`${world.gateway.runtimeUrl}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}`, "anthropic-version": "2023-06-01" },
      body: JSON.stringify(body),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as any };
  };
  beforeAll(async () => {
    const model = (name: string, modes: string[]) =>
      world.admin.post("/v1/admin/llms", {
        tenant_id: "default",
        name,
        model_name: name,
        provider: "fake",
        modes,
        ...PRICED,
        group_ids: [served.groupId],
      });
    await model("writes", ["completion"]);
    await model("embeds", ["embedding"]);
    [governed, strict, spent, locked] = [
      await team("surface-governed"),
      await team("surface-strict"),
      await team("surface-spent"),
      await team("surface-locked"),
    ];
    const rules = {
      temperature: { max: 0.5 },
      context_window: { max_output_tokens: 50, max_input_tokens: 200 },
      tool_use: { blocked_tools: ["shell"] },
      system_prompt: { prepend: ["BE KIND"], append: ["BE BRIEF"], banned_patterns: ["(?i)sauce"] },
    };
    await patch(governed.id, "llm-global-governance", { governance: rules });
    await patch(strict.id, "llm-global-governance", {
      governance: { temperature: { max: 1, enforce: "reject" }, context_window: { max_output_tokens: 50, enforce: "reject" } },
    });
    await limit(spent.id, { requests: { daily_limit: 0 } });
    await limit(locked.id, { concurrency: { max_concurrent: 0 } });
  });

  test.each(ASKED)("%s: parameters are clamped, banned patterns refused, and a header names the changes", async (surface, path, body) => {
    const before = world.upstream.seen.length;
    const clamped = await ask(governed, path, body("hello"));
    const outbound = world.upstream.seen
      .slice(before)
      .map((request) => request.body)
      .join("");
    const generates = surface !== "embeddings";
    expect(clamped.headers.get("x-gw-parameters-clamped")).toBe(
      generates ? (surface === "completions" ? "temperature, max_tokens" : "temperature, max_tokens, tools") : null,
    );
    expect([
      outbound.includes("BE KIND"),
      outbound.includes("BE BRIEF"),
      outbound.includes("shell"),
      outbound.includes("0.9"),
      outbound.includes("500"),
    ]).toEqual([generates, generates, false, false, false]);
    const seen = world.upstream.seen.length;
    const banned = await ask(governed, path, body("the secret Sauce"));
    const long = await ask(governed, path, body("word ".repeat(2_000)));
    expect([banned.status, long.status, world.upstream.seen.length]).toEqual([403, 400, seen]);
    expect(JSON.stringify(banned.body)).toContain("banned_pattern");
    const named = {
      chat: "messages",
      responses: "input",
      messages: "messages",
      gemini: "contents",
      completions: "prompt",
      embeddings: "input",
    }[surface] as string;
    expect(JSON.stringify(long.body)).toContain(`\`${named}\` must be at most 200 tokens`);
  });

  test.each(ASKED.slice(0, 5))("%s: a rejected parameter is named as the caller's format names it", async (surface, path, body) => {
    const seen = world.upstream.seen.length;
    const { status, body: answer } = await ask(strict, path, body("hello"));
    const named = {
      chat: "max_tokens",
      responses: "max_output_tokens",
      messages: "max_tokens",
      gemini: "generationConfig.maxOutputTokens",
      completions: "max_tokens",
    }[surface] as string;
    expect([status, world.upstream.seen.length]).toEqual([400, seen]);
    expect(JSON.stringify(answer)).toContain(`\`${named}\` must be at most 50`);
  });

  test.each(ASKED)("%s: 429 with the usage limit and rate limit details in the surface's own format", async (surface, path, body) => {
    const quota = await ask(spent, path, body("hello"));
    const rate = await ask(locked, path, body("hello"));
    const usage_limit = { group_id: spent.id, group_name: "surface-spent", limit_type: "daily_requests", current_usage: 0, max_limit: 0 };
    const told = { scope: "group", limit_type: "max_concurrent" };
    const inside = (answer: any) => (surface === "gemini" ? answer.error.details[0] : surface === "messages" ? answer.error : answer);
    expect([quota.status, rate.status]).toEqual([429, 429]);
    expect(inside(quota.body)).toMatchObject({ usage_limit });
    expect(surface === "gemini" || surface === "messages" ? inside(rate.body) : rate.body.error).toMatchObject(
      surface === "gemini" || surface === "messages" ? { code: "rate_limit_exceeded", ...told } : { type: "rate_limit_exceeded", ...told },
    );
    for (const { headers } of [quota, rate]) {
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
      expect(headers.get("x-gw-usage-utilization")).toBe("100");
    }
  });
});
