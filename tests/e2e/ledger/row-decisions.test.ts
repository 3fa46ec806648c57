import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sha256Hex } from "../../../server/kernel/secrets.ts";
import { CLAIMED, CLAIMS, rowOf } from "../../support/worlds/admin.ts";
import { ANSWER_SURFACES, type AnswerSurface } from "../../support/formats/answer-streams.ts";
import { type Caller, type GuardedWorld, startGuardedWorld } from "../../support/worlds/guarded-world.ts";

/** What rows record about inspections and about what a model was told, on every text surface, whole and streamed. */
let world: GuardedWorld;
let watched: Caller;
let wordsOnly: Caller;
let unwatched: Caller;
let answersOnly: Caller;
let governed: Caller;
let cached: Caller;
const configs: Record<string, string> = {};
const tenant = { tenant_id: "default" };

beforeAll(async () => {
  world = await startGuardedWorld();
  const { admin } = world;
  const config = (name: string, given: object) => async (groupId: string) => {
    configs[name] = (await admin.post("/v1/admin/guardrails/configs", { ...tenant, name, group_ids: [groupId], ...given })).id;
  };
  watched = await world.caller("watched", config("watcher", { builtin: { pii_enabled: true, banned_words: ["titan"] } }));
  wordsOnly = await world.caller("words only", config("words", { builtin: { banned_words: ["titan"], banned_words_action: "block" } }));
  unwatched = await world.caller("unwatched", async () => {});
  answersOnly = await world.caller(
    "answers only",
    config("answers", { surfaces: { chat_output: true }, builtin: { pii_enabled: true, pii_action: "block" } }),
  );
  governed = await world.caller("governed", async (groupId) => {
    const governance = {
      temperature: { max: 0.5, enforce: "clamp" },
      context_window: { max_output_tokens: 50, enforce: "clamp" },
      system_prompt: { prepend: ["FIRST"], append: ["LAST"] },
    };
    const path = `/v1/admin/resource-groups/${groupId}/llm-global-governance`;
    expect((await admin.request("PATCH", path, { governance })).status).toBe(200);
  });
  cached = await world.caller("cached", async (groupId) => {
    await config("kept", { builtin: { pii_enabled: true } })(groupId);
    const cache = { name: "kept", exact_match: { enabled: true, ttl_seconds: 600 }, max_temperature: 2, group_ids: [groupId] };
    await admin.post("/v1/admin/semantic-cache/configs", { ...tenant, ...cache });
  });
});
afterAll(() => world.end());

interface Asking {
  readonly stream?: boolean;
  readonly model?: string;
  readonly text?: string;
  readonly temperature?: number;
}

async function ask(caller: Caller, surface: AnswerSurface, { stream = false, ...asking }: Asking = {}) {
  const { model = world.modelOf(surface, "plain"), text = "How are things?", temperature = 0.25 } = asking;
  const bodies: Record<AnswerSurface["format"], [string, object]> = {
    chat: [
      "/v1/proxy/llm/chat/completions",
      {
        model,
        messages: [
          { role: "system", content: "OWN" },
          { role: "user", content: text },
        ],
        max_tokens: 90,
        temperature,
        stream,
      },
    ],
    completions: ["/v1/proxy/llm/completions", { model, prompt: text, max_tokens: 90, temperature, stream }],
    responses: [
      "/v1/proxy/llm/responses",
      { model, instructions: "OWN", input: text, max_output_tokens: 90, temperature, stream, store: false },
    ],
    messages: ["/v1/messages", { model, system: "OWN", max_tokens: 90, messages: [{ role: "user", content: text }], temperature, stream }],
    gemini: [
      `/v1beta/models/${model}:${stream ? "streamGenerateContent" : "generateContent"}${stream && surface.framing === "events" ? "?alt=sse" : ""}`,
      {
        systemInstruction: { parts: [{ text: "OWN" }] },
        contents: [{ role: "user", parts: [{ text }] }],
        generationConfig: { temperature, maxOutputTokens: 90 },
      },
    ],
  };
  const [path, body] = bodies[surface.format];
  return sent(caller, path, body);
}

async function sent(caller: Caller, path: string, body: object) {
  const headers = { "content-type": "application/json", "x-api-key": caller.apiKey, "anthropic-version": "2023-06-01", ...CLAIMS };
  const response = await fetch(world.gateway.runtimeUrl + path, { method: "POST", headers, body: JSON.stringify(body) });
  await response.arrayBuffer();
  const row = await rowOf(world.admin, { id: response.headers.get("x-request-id") });
  return { status: response.status, row, outbound: JSON.parse(world.vendor.seen.at(-1)?.body ?? "null") };
}

const FOUND_NOTHING = { guardrail_check: null, guardrail_action: null, success: true };
const NOBODY_LOOKED = { guardrail_blocked: null, pii_detected: null, guardrail_config_id: null };

describe.each(ANSWER_SURFACES.map((surface) => [surface.name, surface] as const))("%s", (_name, surface) => {
  test.each([false, true])("the row distinguishes guardrails that found nothing from no guardrails at all (stream %p)", async (stream) => {
    const looked = await ask(watched, surface, { stream });
    expect(looked.row).toMatchObject({
      ...FOUND_NOTHING,
      guardrail_blocked: false,
      pii_detected: false,
      guardrail_config_id: configs.watcher,
      llm_used_fallback: false,
      is_auth_event: false,
    });
    // This guardrail does not look for personal data.
    expect((await ask(wordsOnly, surface, { stream })).row).toMatchObject({
      ...FOUND_NOTHING,
      guardrail_blocked: false,
      pii_detected: null,
      guardrail_config_id: configs.words,
    });
    expect((await ask(unwatched, surface, { stream })).row).toMatchObject({
      ...FOUND_NOTHING,
      ...CLAIMED,
      ...NOBODY_LOOKED,
      llm_used_fallback: false,
    });
    // This guardrail only inspects the answer.
    const answer = await ask(answersOnly, surface, { stream });
    expect(answer.row).toMatchObject({ guardrail_blocked: false, pii_detected: false, guardrail_config_id: configs.answers });
  });

  test.each([false, true])("a call refused before any guardrail ran is recorded as not inspected (stream %p)", async (stream) => {
    const { status, row } = await ask(watched, surface, { stream, model: "no-such-model" });
    expect(status).toBe(404);
    expect(row).toMatchObject({ ...NOBODY_LOOKED, llm_used_fallback: null, is_auth_event: false });
    const refused = await ask(watched, surface, { stream, text: "tell me of titan" });
    expect(refused.row).toMatchObject({ guardrail_blocked: true, pii_detected: false, llm_used_fallback: null });
    const blockedInput = await ask(answersOnly, surface, { stream, model: "no-such-model" });
    expect(blockedInput.row).toMatchObject(NOBODY_LOOKED);
  });

  test.each([false, true])(
    "the row has the parameters and prompt fingerprint of what was sent after governance (stream %p)",
    async (stream) => {
      const { row, outbound } = await ask(governed, surface, { stream, temperature: 0.75 });
      const told = toldOf(surface, outbound);
      expect(told).toMatchObject({ temperature: 0.5, maxTokens: 50 });
      expect([row.llm_temperature, row.llm_max_tokens, row.prompt_fingerprint]).toEqual([0.5, 50, sha256Hex(told.instructions)]);
      const free = await ask(unwatched, surface, { stream, temperature: 0.75 });
      expect([free.row.llm_temperature, free.row.llm_max_tokens]).toEqual([0.75, 90]);
      expect(free.row.prompt_fingerprint).toBe(surface.format === "completions" ? null : sha256Hex("OWN"));
    },
  );

  test("the row of a cached answer repeats the decisions of the original call, except that no model was called", async () => {
    const text = `What is kept on ${surface.name}?`;
    const bought = await ask(cached, surface, { text });
    const given = await ask(cached, surface, { text });
    expect([bought.row.llm_cache_hit, given.row.llm_cache_hit]).toEqual([false, true]);
    expect([bought.row.llm_used_fallback, given.row.llm_used_fallback]).toEqual([false, null]);
    for (const name of ["prompt_fingerprint", "llm_temperature", "llm_max_tokens", "guardrail_blocked", "pii_detected"])
      expect(given.row[name]).toEqual(bought.row[name]);
    expect(given.row).toMatchObject({ guardrail_blocked: false, pii_detected: false, guardrail_config_id: configs.kept });
  });
});

/** The parameters and instructions that a vendor reads from a body of its own format. */
function toldOf({ format }: AnswerSurface, body: any): { temperature: number; maxTokens: number; instructions: string } {
  switch (format) {
    case "chat":
      return {
        temperature: body.temperature,
        maxTokens: body.max_completion_tokens ?? body.max_tokens,
        instructions: body.messages.flatMap(({ role, content }: any) => (role === "system" ? [content] : [])).join("\n"),
      };
    case "completions":
      return { temperature: body.temperature, maxTokens: body.max_tokens, instructions: "FIRST\nLAST" };
    case "responses":
      return { temperature: body.temperature, maxTokens: body.max_output_tokens, instructions: body.instructions };
    case "messages":
      return { temperature: body.temperature, maxTokens: body.max_tokens, instructions: body.system };
    case "gemini":
      return {
        temperature: body.generationConfig.temperature,
        maxTokens: body.generationConfig.maxOutputTokens,
        instructions: body.systemInstruction.parts.map(({ text }: any) => text).join("\n"),
      };
  }
}

test("the model's own instructions and defaults count as sent, also in a translated request", async () => {
  const { admin } = world;
  const own = { enabled: true, system_prompt: "OF THE MODEL", default_temperature: 0.125, default_max_tokens: 33 };
  for (const [name, provider, modes] of [
    ["own-chat", "fake-openai", ["chat"]],
    ["own-anthropic", "fake-anthropic", ["chat"]],
    ["own-gemini", "fake-gemini", ["chat"]],
  ] as const) {
    const group_ids = [unwatched.groupId];
    await admin.post("/v1/admin/llms", { ...tenant, ...own, name, model_name: `${provider.slice(5)}-plain`, provider, modes, group_ids });
    const messages = [
      { role: "system", content: "OF THE CALLER" },
      { role: "user", content: "x" },
    ];
    const { status, row } = await sent(unwatched, "/v1/proxy/llm/chat/completions", { model: name, messages });
    expect([status, row.llm_temperature, row.llm_max_tokens]).toEqual([200, 0.125, 33]);
    expect(row.prompt_fingerprint).toBe(sha256Hex("OF THE MODEL\nOF THE CALLER"));
    const bare = await sent(unwatched, "/v1/proxy/llm/chat/completions", { model: name, messages: messages.slice(1) });
    expect(bare.row.prompt_fingerprint).toBe(sha256Hex("OF THE MODEL"));
  }
});

test("the row of a translated request has the max_tokens added and omits the temperature dropped in translation", async () => {
  const chat = { messages: [{ role: "user", content: "x" }], temperature: 0.5, reasoning_effort: "high" };
  const model = { name: "reasons", model_name: "claude-sonnet-4-5", provider: "fake-anthropic", modes: ["chat"], enabled: true };
  await world.admin.post("/v1/admin/llms", { ...tenant, ...model, group_ids: [unwatched.groupId] });
  const { row, outbound } = await sent(unwatched, "/v1/proxy/llm/chat/completions", { model: "reasons", ...chat });
  expect([typeof outbound.max_tokens, outbound.temperature]).toEqual(["number", undefined]);
  expect([row.llm_temperature, row.llm_max_tokens, row.prompt_fingerprint]).toEqual([null, outbound.max_tokens, null]);
});

test("rows of embeddings record their inspection; rows of model lists record none", async () => {
  const { row } = await sent(watched, "/v1/proxy/llm/embeddings", { model: "vectors", input: "fine" });
  expect(row).toMatchObject({
    ...FOUND_NOTHING,
    ...CLAIMED,
    guardrail_blocked: false,
    pii_detected: false,
    guardrail_config_id: configs.watcher,
    llm_used_fallback: false,
    llm_temperature: null,
    prompt_fingerprint: null,
  });
  const listed = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/models`, { headers: { "x-api-key": watched.apiKey } });
  await listed.arrayBuffer();
  expect(await rowOf(world.admin, { id: listed.headers.get("x-request-id") })).toMatchObject({
    ...NOBODY_LOOKED,
    llm_used_fallback: null,
    is_auth_event: false,
  });
});

test("a guardrail that cannot read token IDs is recorded as skipped, not as having found nothing", async () => {
  const surfaces = { chat_input: true, embeddings_input: true };
  const builtin = { banned_words: ["titan"], banned_words_action: "warn" };
  const warning = await world.caller("warning", async (id) => {
    await world.admin.post("/v1/admin/guardrails/configs", { ...tenant, name: "warning", group_ids: [id], surfaces, builtin });
  });
  for (const [path, body] of [
    ["completions", { model: "openai-plain", prompt: [1, 2, 3] }],
    ["embeddings", { model: "vectors", input: [1, 2, 3] }],
  ] as const) {
    const { status, row } = await sent(warning, `/v1/proxy/llm/${path}`, body);
    expect([status, row.guardrails_skipped, row.guardrail_blocked, row.guardrail_config_id]).toEqual([200, true, null, null]);
  }
});

test("the row of a 400 by governance names the control", async () => {
  const { groupId } = unwatched;
  const strict = await world.caller("strict", async (id) => {
    const governance = { temperature: { max: 0.5, enforce: "reject" } };
    await world.admin.request("PATCH", `/v1/admin/resource-groups/${id}/llm-global-governance`, { governance });
  });
  expect(strict.groupId).not.toBe(groupId);
  const surface = ANSWER_SURFACES[0] as AnswerSurface;
  const rejected = await ask(strict, surface, { temperature: 0.75 });
  expect([rejected.status, rejected.row.error_type, rejected.row.custom_metadata]).toEqual([
    400,
    "parameter_rejected",
    { refused_by: "parameters" },
  ]);
  const malformed = await sent(strict, "/v1/proxy/llm/chat/completions", { model: "openai-plain", messages: "x" });
  expect([malformed.status, malformed.row.custom_metadata]).toEqual([400, null]);
});

test("a refused credential is recorded as an authentication event on every surface", async () => {
  const { runtimeUrl } = world.gateway;
  for (const [method, path] of [
    ["POST", "/v1/proxy/llm/chat/completions"],
    ["POST", "/v1/messages"],
    ["POST", "/v1beta/models/gemini-plain:generateContent"],
    ["POST", "/v1/proxy/mcp/nothing"],
    ["GET", "/v1/portal/auth/profile"],
    ["POST", "/v1/portal/auth/login"],
    ["POST", "/v1/portal/auth/validate"],
  ] as const)
    for (const headers of [{}, { "x-api-key": `sk_gw_api_${"x".repeat(43)}` }] as Record<string, string>[]) {
      const body = method === "POST" ? JSON.stringify({ username: "nobody", password: "x" }) : null;
      const reply = await fetch(runtimeUrl + path, { method, headers: { "content-type": "application/json", ...headers }, body });
      await reply.arrayBuffer();
      expect(reply.status).toBe(401);
      expect(await rowOf(world.admin, { id: reply.headers.get("x-request-id") })).toMatchObject({ is_auth_event: true });
    }
});
