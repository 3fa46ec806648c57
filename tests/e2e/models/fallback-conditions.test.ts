import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { type FakeVendor, fakeVendor, type VendorRequest } from "../../support/vendors/fake-vendor.ts";
import { type AdminClient, rowOf, type Served, serveModels } from "../../support/worlds/admin.ts";
import { startWorld, type World } from "../../support/world.ts";

let world: World;
let admin: AdminClient;
let served: Served;
let vendor: FakeVendor;

const tenant = { tenant_id: "default" };
const messages = [{ role: "user" as const, content: "Hi" }];
const events = (...data: unknown[]) =>
  new Response(data.map((one) => `data: ${JSON.stringify(one)}\n\n`).join(""), { headers: { "content-type": "text/event-stream" } });
const named = (...data: { type: string }[]) =>
  new Response(data.map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`).join(""), {
    headers: { "content-type": "text/event-stream" },
  });
const chunk = (delta: object, finish: string | null = null, more: object = {}) => ({
  ...{ id: "c", object: "chat.completion.chunk", created: 1, model: "m" },
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...more,
});
const usage = { prompt_tokens: 1_000, completion_tokens: 0, total_tokens: 1_000 };

/** What each model of the vendor answers; `large` serves everything. */
const ANSWERS: Record<string, (streams: boolean) => Response> = {
  large: (streams) =>
    streams
      ? events(chunk({ content: "served" }), chunk({}, "stop", { usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 } }))
      : Response.json({
          ...{ id: "c", object: "chat.completion", created: 1, model: "m" },
          choices: [{ index: 0, message: { role: "assistant", content: "served" }, finish_reason: "stop" }],
          usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 },
        }),
  "chat-long": () => Response.json({ error: { message: "Please shorten it.", code: "context_length_exceeded" } }, { status: 400 }),
  "chat-error": () => Response.json({ error: { message: "No.", code: "content_filter", status: 400 } }, { status: 400 }),
  "chat-filtered": (streams) =>
    streams
      ? events(chunk({ role: "assistant", content: "" }), chunk({}, "content_filter"), chunk({}, null, { choices: [], usage }))
      : Response.json({
          ...{ id: "c", object: "chat.completion", created: 1, model: "m", usage },
          choices: [{ index: 0, message: { role: "assistant", content: null }, finish_reason: "content_filter" }],
        }),
  "chat-refused": (streams) =>
    streams
      ? events(
          chunk({ role: "assistant", refusal: "I will " }),
          chunk({ refusal: "not." }),
          chunk({}, "stop", { usage: { ...usage, completion_tokens: 3 } }),
        )
      : Response.json({
          ...{ id: "c", object: "chat.completion", created: 1, model: "m", usage: { ...usage, completion_tokens: 3 } },
          choices: [{ index: 0, message: { role: "assistant", content: null, refusal: "I will not." }, finish_reason: "stop" }],
        }),
  "chat-begun": (streams) =>
    streams
      ? events(chunk({ content: "half" }), chunk({}, "content_filter", { usage }))
      : Response.json({ error: { message: "?" } }, { status: 500 }),
  "messages-long": () =>
    Response.json(
      { type: "error", error: { type: "invalid_request_error", message: "prompt is too long: 210000 tokens > 200000 maximum" } },
      { status: 400 },
    ),
  "messages-filtered": (streams) => {
    const message = { id: "m", type: "message", role: "assistant", model: "m", content: [], stop_sequence: null };
    return streams
      ? named(
          { type: "message_start", message: { ...message, stop_reason: null, usage: { input_tokens: 1_000, output_tokens: 0 } } } as never,
          { type: "message_delta", delta: { stop_reason: "refusal", stop_sequence: null }, usage: { output_tokens: 0 } } as never,
          { type: "message_stop" },
        )
      : Response.json({ ...message, stop_reason: "refusal", usage: { input_tokens: 1_000, output_tokens: 0 } });
  },
  "gemini-long": () =>
    Response.json(
      {
        error: {
          ...{ code: 400, status: "INVALID_ARGUMENT" },
          message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        },
      },
      { status: 400 },
    ),
  "gemini-filtered": (streams) => {
    const said = { candidates: [{ index: 0, finishReason: "SAFETY" }], usageMetadata: { promptTokenCount: 1_000, totalTokenCount: 1_000 } };
    return streams ? events(said) : Response.json(said);
  },
  "gemini-blocked": (streams) => {
    const said = { promptFeedback: { blockReason: "SAFETY" }, usageMetadata: { promptTokenCount: 1_000, totalTokenCount: 1_000 } };
    return streams ? events(said) : Response.json(said);
  },
};

function answerOf({ path, body }: VendorRequest): Response {
  const request = JSON.parse(body) as { model?: string; stream?: boolean };
  const name = /models\/([^:]+):/.exec(path)?.[1] ?? request.model ?? "";
  return ANSWERS[name]?.(request.stream === true || path.includes("streamGenerate")) ?? Response.json({}, { status: 500 });
}

beforeAll(async () => {
  vendor = fakeVendor(answerOf);
  world = await startWorld();
  ({ admin } = world);
  served = await serveModels(admin, `${vendor.origin}/v1`, [], { providerKey: "chat" });
  for (const [provider_key, api_format, base_url] of [
    ["messages", "anthropic", vendor.origin],
    ["gemini", "gemini", `${vendor.origin}/v1beta`],
  ])
    await admin.post("/v1/admin/providers", { ...tenant, provider_key, api_format, base_url, api_key: "key" });
  for (const name of Object.keys(ANSWERS).filter((one) => one !== "large")) {
    await group(name);
    await member(name, name, { routing_weight: 2 });
    await member(name, "large", { routing_weight: 0, fallback_on: [name.endsWith("long") ? "context_window" : "content_filter"] });
  }
});

afterAll(async () => {
  await world.end();
  await vendor.stop();
});

async function group(id: string, more: object = {}): Promise<void> {
  await admin.post("/v1/admin/llm-router/routing-groups", { ...tenant, id, routing_strategy: "ordered", num_retries: 0, ...more });
}

/** A model in a group, named after both. */
async function member(of: string, model_name: string, more: object = {}): Promise<void> {
  await admin.post("/v1/admin/llms", {
    ...{
      ...tenant,
      name: `${of}/${model_name}`,
      model_name,
      provider: model_name === "large" ? "chat" : model_name.split("-")[0],
      mode: "chat",
    },
    ...{ routing_group_id: of, group_ids: [served.groupId] },
    ...{ input_cost_per_million_tokens: 1_000, output_cost_per_million_tokens: 1_000 },
    ...more,
  });
}

function call(body: object): Promise<Response> {
  return fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${served.apiKey}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

const ask = (model: string, more: { messages?: object[]; stream?: boolean } = {}) =>
  call({ model, messages, ...more, ...(more.stream === true && { stream_options: { include_usage: true } }) });
const rowFor = (response: Response) => rowOf(admin, { id: response.headers.get("x-request-id") });
const openai = () => new OpenAI({ baseURL: `${world.gateway.runtimeUrl}/v1/proxy/llm`, apiKey: served.apiKey, maxRetries: 0 });
const anthropic = () => new Anthropic({ baseURL: world.gateway.runtimeUrl, apiKey: served.apiKey, maxRetries: 0 });
const google = () => new GoogleGenAI({ apiKey: served.apiKey, httpOptions: { baseUrl: world.gateway.runtimeUrl } });

const NAMES = Object.keys(ANSWERS).filter((name) => name !== "large" && name !== "chat-begun");

/** How each official client asks a model and what text it gets, whole and streamed. */
const CLIENTS: Record<string, (model: string, streams: boolean) => Promise<string>> = {
  async OpenAI(model, streams) {
    if (!streams) return (await openai().chat.completions.create({ model, messages })).choices[0]?.message.content ?? "";
    let text = "";
    for await (const one of await openai().chat.completions.create({ model, messages, stream: true }))
      text += one.choices[0]?.delta.content ?? "";
    return text;
  },
  async "OpenAI's Responses"(model, streams) {
    if (!streams) return (await openai().responses.create({ model, input: "Hi" })).output_text;
    let text = "";
    for await (const one of await openai().responses.create({ model, input: "Hi", stream: true }))
      if (one.type === "response.output_text.delta") text += one.delta;
    return text;
  },
  async Anthropic(model, streams) {
    const asked = { model, max_tokens: 10, messages };
    const message = streams ? await anthropic().messages.stream(asked).finalMessage() : await anthropic().messages.create(asked);
    return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
  },
  async Google(model, streams) {
    if (!streams) return (await google().models.generateContent({ model, contents: "Hi" })).text ?? "";
    let text = "";
    for await (const one of await google().models.generateContentStream({ model, contents: "Hi" })) text += one.text ?? "";
    return text;
  },
};

describe.each(Object.keys(CLIENTS))("a member named for it takes over what another's provider refuses, for the client of %s:", (client) => {
  test.each(NAMES.flatMap((name) => [[name, "whole", false] as const, [name, "streamed", true] as const]))(
    "%s, %s",
    async (name, _how, streams) => {
      expect(await CLIENTS[client]?.(name, streams)).toBe("served");
      const reason = name.endsWith("long") ? "context_window_exceeded" : "content_filtered";
      const row = await rowOf(admin, { llm_model_requested: name, llm_streaming: streams });
      expect(row).toMatchObject({
        ...{ success: true, llm_model_used: `${name}/large`, llm_used_fallback: true, llm_fallback_reason: reason },
        custom_metadata: {
          attempts: [
            { model: `${name}/${name}`, outcome: reason },
            { model: `${name}/large`, outcome: "served" },
          ],
        },
      });
      // What the refused answer used is billed and added; refused requests are not.
      const billed = name === "chat-refused" ? 1.003 : /filtered|blocked/.test(name) ? 1 : 0;
      expect(Number(row.llm_estimated_cost_usd)).toBeCloseTo(billed + 0.003, 6);
    },
  );
});

const asked = () => vendor.seen.map(({ body }) => (JSON.parse(body) as { model?: string }).model);

describe("without a member named for it", () => {
  test.each(["chat-long", "chat-error", "chat-filtered"])("the answer %s is the caller's, whole and streamed", async (refusing) => {
    const id = `unnamed-${refusing}`;
    await group(id, { num_retries: 2 });
    await member(id, refusing, { routing_weight: 2 });
    await member(id, "large");
    for (const stream of [false, true]) {
      const response = await ask(id, { stream });
      const given = ANSWERS[refusing]?.(stream) as Response;
      expect([response.status, await response.text()]).toEqual([given.status, await given.text()]);
      expect(await rowFor(response)).toMatchObject({ llm_model_used: `${id}/${refusing}`, llm_used_fallback: false });
    }
  });

  test("a member that takes over after failures and filters is not asked when a request is too long", async () => {
    const id = "other-reason";
    await group(id);
    await member(id, "chat-long", { routing_weight: 2 });
    await member(id, "large", { fallback_on: ["failure", "content_filter"] });
    expect((await ask(id)).status).toBe(400);
  });

  test("a member that is not granted to the caller takes over nothing", async () => {
    const id = "not-granted";
    await group(id);
    await member(id, "chat-long", { routing_weight: 2 });
    await member(id, "large", { routing_weight: 0, fallback_on: ["context_window"], group_ids: [] });
    const response = await ask(id);
    expect([response.status, asked().at(-1)]).toEqual([400, "chat-long"]);
  });
});

test.each(["gemini-blocked", "gemini-filtered"])("a stream that is nothing but a refusal is an answer: %s", async (refusing) => {
  const id = `alone-${refusing}`;
  await group(id, { num_retries: 2 });
  await member(id, refusing);
  const before = vendor.seen.length;
  const response = await ask(id, { stream: true });
  expect(await response.text()).toContain('"finish_reason":"content_filter"');
  expect(asked().slice(before)).toHaveLength(1);
  expect(await rowFor(response)).toMatchObject({ success: true, llm_used_fallback: false });
});

test("a stream whose content has begun stays where it is", async () => {
  const response = await ask("chat-begun", { stream: true });
  expect(await response.text()).toContain('"finish_reason":"content_filter"');
  expect(await rowFor(response)).toMatchObject({ llm_model_used: "chat-begun/chat-begun", llm_used_fallback: false });
});

test("a member that is only for refused requests serves neither at first nor after failures", async () => {
  const id = "only-for-refused";
  await group(id, { num_retries: 3, allowed_fails: 0 });
  await member(id, "chat-down", { routing_weight: 1 });
  await member(id, "large", { routing_weight: 0, fallback_on: ["context_window", "content_filter"] });
  for (let times = 0; times < 3; times++) expect((await ask(id)).status).toBe(502);
});

test("an answer refused by all is the caller's, and each is paid once", async () => {
  const id = "refused-by-all";
  await group(id);
  await member(id, "chat-filtered", { routing_weight: 2 });
  await member(id, "messages-filtered", { routing_weight: 0, fallback_on: ["content_filter"] });
  const response = await ask(id);
  expect(await response.json()).toMatchObject({ choices: [{ finish_reason: "content_filter" }] });
  const row = await rowFor(response);
  expect(row).toMatchObject({
    llm_model_used: `${id}/messages-filtered`,
    llm_used_fallback: true,
    llm_fallback_reason: "content_filtered",
  });
  expect(Number(row.llm_estimated_cost_usd)).toBeCloseTo(2, 6);
});

test.each([false, true])(
  "a refused answer is given to the caller if the member named for it is at its limit (stream: %p)",
  async (stream) => {
    const id = `at-its-limit-${stream}`;
    await group(id);
    await member(id, "chat-filtered", { routing_weight: 2 });
    await member(id, "large", { routing_weight: 0, fallback_on: ["content_filter"], rate_limit_rpm: 1 });
    expect(await (await ask(id)).text()).toContain("served");
    const response = await ask(id, { stream });
    expect(await response.text()).toBe((await ANSWERS["chat-filtered"]?.(stream).text()) ?? "");
    const row = await rowFor(response);
    expect(row).toMatchObject({ ...{ llm_model_used: `${id}/chat-filtered`, llm_used_fallback: false, success: true } });
    expect(Number(row.llm_estimated_cost_usd)).toBeCloseTo(1, 6);
  },
);

describe("a request known to be too long for a member", () => {
  const long = [{ role: "user", content: "word ".repeat(2_000) }];

  test("is not sent to it, but to one named for that with a larger window", async () => {
    const id = "known";
    await group(id);
    await member(id, "chat-filtered", { routing_weight: 3, context_window: 1_000 });
    await member(id, "messages-filtered", { routing_weight: 2, context_window: 500, fallback_on: ["context_window"] });
    await member(id, "large", { routing_weight: 0, context_window: 100_000, fallback_on: ["context_window"] });
    const before = vendor.seen.length;
    const response = await ask(id, { messages: long });
    expect([response.status, asked().slice(before)]).toEqual([200, ["large"]]);
    expect(await rowFor(response)).toMatchObject({
      ...{ llm_model_used: `${id}/large`, llm_used_fallback: true, llm_fallback_reason: "context_window_exceeded" },
    });
  });

  test("is sent to it if no other is named for that", async () => {
    const id = "known-alone";
    await group(id);
    await member(id, "large", { context_window: 1_000 });
    await member(id, "chat-filtered", { routing_weight: 0, context_window: 1_000, fallback_on: ["context_window"] });
    expect(await (await ask(id, { messages: long })).text()).toContain("served");
  });
});

test("a guardrail of the gateway is no reason to ask another member", async () => {
  const id = "guarded";
  await group(id);
  await member(id, "large", { routing_weight: 2 });
  await member(id, "chat-filtered", { routing_weight: 0, fallback_on: ["content_filter"] });
  await admin.post("/v1/admin/guardrails/configs", {
    ...{ ...tenant, name: "no-served", group_ids: [served.groupId], enabled: true },
    ...{ surfaces: { chat_output: true }, builtin: { banned_words: ["served"] } },
  });
  const before = vendor.seen.length;
  const response = await ask(id);
  expect([response.status, asked().slice(before)]).toEqual([403, ["large"]]);
});
