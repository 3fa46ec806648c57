import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI, { AzureOpenAI } from "openai";
import { rowOf } from "../../support/worlds/admin.ts";
import { type FakeVendor, fakeVendor } from "../../support/vendors/fake-vendor.ts";
import { startWorld, type World } from "../../support/world.ts";

/** What OpenAI's own clients do when a conversation grows too long for its model. */
let world: World;
let vendor: FakeVendor;
let groupId: string;
let client: OpenAI;
let baseURL: string;
let apiKey: string;

const usage = {
  ...{ input_tokens: 1000, input_tokens_details: { cached_tokens: 0 }, output_tokens: 100 },
  ...{ output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 1100 },
};
const sealed = { id: "cmp_1", type: "compaction" as const, encrypted_content: "gAAAAAsealed" };

beforeAll(async () => {
  vendor = fakeVendor(({ path, body }) => {
    const { input } = JSON.parse(body) as { input: unknown };
    if (path.endsWith("/compact")) {
      const said = { id: "msg_1", type: "message", role: "user", status: "completed", content: [{ type: "input_text", text: input }] };
      return Response.json({ id: "resp_c", object: "response.compaction", created_at: 1, output: [said, sealed], usage, tomorrow: 1 });
    }
    const content = [{ type: "output_text", text: "On we go", annotations: [] }];
    const output = [{ type: "message", id: "msg_2", role: "assistant", status: "completed", content }];
    return Response.json({ id: "resp_1", object: "response", created_at: 1, model: "m", status: "completed", output, usage });
  });
  world = await startWorld();
  const { admin } = world;
  const tenant = { tenant_id: "default" };
  const group = await admin.post("/v1/admin/resource-groups", { ...tenant, name: "team", group_type: "team" });
  groupId = group.id;
  for (const [provider_key, api_format] of [
    ["vendor", "openai"],
    ["another", "anthropic"],
  ])
    await admin.post("/v1/admin/providers", { ...tenant, provider_key, api_format, base_url: `${vendor.origin}/v1`, api_key: "sk-1" });
  for (const [name, provider, modes] of [
    ["long", "vendor", ["responses"]],
    ["plain", "vendor", ["chat"]],
    ["claude", "another", ["chat"]],
  ] as const)
    await admin.post("/v1/admin/llms", {
      ...{ ...tenant, name, model_name: `${name}-of-vendor`, provider, modes, group_ids: [groupId], default_max_tokens: 50 },
      ...{ default_temperature: 0.1, input_cost_per_million_tokens: 1, output_cost_per_million_tokens: 10 },
    });
  apiKey = (await admin.post(`/v1/admin/resource-groups/${groupId}/api-keys`, { name: "key", access_mode: "shared" })).key_value;
  baseURL = `${world.gateway.runtimeUrl}/v1/proxy/llm`;
  client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
});

afterAll(async () => {
  await world.end();
  await vendor.stop();
});

const refusalOf = (asked: PromiseLike<unknown>): Promise<any> =>
  Promise.resolve(asked).then(
    () => null,
    (error: unknown) => error,
  );

test("a conversation is compacted by its vendor, metered like a response, and continued from the result", async () => {
  const { data, response } = await client.responses.compact({ model: "long", input: "Hello", instructions: "Be brief." }).withResponse();
  expect(data).toMatchObject({ object: "response.compaction", usage, tomorrow: 1 });
  expect(response.headers.get("x-gw-ai-generated")).toBe("true");
  const seen = vendor.seen.at(-1);
  expect([seen?.path, JSON.parse(seen?.body ?? "")]).toEqual([
    "/v1/responses/compact",
    { model: "long-of-vendor", input: "Hello", instructions: "Be brief." },
  ]);
  expect(await rowOf(world.admin, { id: response.headers.get("x-request-id") })).toMatchObject({
    ...{ proxy_subtype: "responses_compact", success: true, llm_model_used: "long", llm_prompt_tokens: 1000 },
    ...{ llm_completion_tokens: 100, llm_estimated_cost_usd: 0.002 },
  });
  const next = await client.responses.create({ model: "long", input: [...(data.output as []), { role: "user", content: "And?" }] });
  expect(next.output_text).toBe("On we go");
  expect(JSON.parse(vendor.seen.at(-1)?.body ?? "").input[1]).toEqual(sealed);
});

test("Azure's client compacts too", async () => {
  const azure = new AzureOpenAI({ endpoint: world.gateway.runtimeUrl, apiKey, apiVersion: "2026-10-01", maxRetries: 0 });
  expect((await azure.responses.compact({ model: "long", input: "Hello" })).output).toHaveLength(2);
});

test("guardrails inspect the conversation to be compacted", async () => {
  const config = await world.admin.post("/v1/admin/guardrails/configs", {
    ...{ tenant_id: "default", name: "careful", enabled: true, group_ids: [groupId], surfaces: { chat_input: true, chat_output: true } },
    builtin: { pii_enabled: true, pii_action: "redact", pii_categories: ["email"], banned_words: ["projectx"] },
  });
  const { output } = await client.responses.compact({ model: "long", input: "Write to ann@example.com" });
  expect(vendor.seen.at(-1)?.body).not.toContain("ann@example.com");
  expect(output[1]).toEqual(sealed);
  const asked = vendor.seen.length;
  const blocked = await refusalOf(client.responses.compact({ model: "long", input: "About projectx" }));
  expect([blocked.status, blocked.code, vendor.seen.length]).toEqual([403, "guardrail_blocked", asked]);
  await world.admin.request("DELETE", `/v1/admin/guardrails/configs/${config.id}`);
});

test.each(["plain", "claude"])("a model called in another format refuses compaction with a message that says so (%s)", async (model) => {
  const asked = vendor.seen.length;
  const refused = await refusalOf(client.responses.compact({ model, input: "Hello" }));
  expect(refused).toBeInstanceOf(OpenAI.BadRequestError);
  expect(refused.error).toContain("Responses format");
  expect(vendor.seen.length).toBe(asked);
});

test("a routing group compacts with a member that supports it", async () => {
  const { admin } = world;
  await admin.post("/v1/admin/llm-router/routing-groups", {
    ...{ tenant_id: "default", id: "either", name: "either", routing_strategy: "simple-shuffle" },
  });
  for (const [name, provider, routing_weight] of [
    ["seldom", "vendor", 1],
    ["mostly", "another", 1000],
  ] as const)
    await admin.post("/v1/admin/llms", {
      ...{ tenant_id: "default", name, model_name: name, provider, modes: provider === "vendor" ? ["responses", "chat"] : ["chat"] },
      ...{ group_ids: [groupId], routing_group_id: "either", routing_weight },
    });
  for (let i = 0; i < 3; i++) expect((await client.responses.compact({ model: "either", input: "Hello" })).id).toBe("resp_c");
});

test.each([
  [{ stream: true }, 400, "stream"],
  [{ conversation: "conv_1" }, 400, "conversation"],
  [{ input: 7 }, 400, "input"],
  [{ previous_response_id: "resp_of_somebody" }, 400, "resp_of_somebody"],
])("an invalid compaction is refused before the vendor is called: %p", async (more, status, told) => {
  const asked = vendor.seen.length;
  const response = await fetch(`${baseURL}/responses/compact`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "long", input: "Hello", ...more }),
  });
  expect([response.status, await response.text(), vendor.seen.length]).toEqual([status, expect.stringContaining(told), asked]);
});

test("a hard budget holds the worst case of a compaction whatever max_output_tokens says; counting tokens costs nothing", async () => {
  const { admin } = world;
  const limited = async (daily_limit_usd: number) => {
    const { id } = await admin.post("/v1/admin/resource-groups", {
      tenant_id: "default",
      name: `$${daily_limit_usd}`,
      parent_group_id: groupId,
    });
    const limits = { llm_global_limits: { budget: { daily_limit_usd, hard_stop: true } } };
    expect((await admin.request("PATCH", `/v1/admin/resource-groups/${id}/llm-global-limits`, limits)).status).toBe(200);
    const { key_value } = await admin.post(`/v1/admin/resource-groups/${id}/api-keys`, { name: "k" });
    return new OpenAI({ baseURL, apiKey: key_value, maxRetries: 0 });
  };
  // A model of unknown output limit may write 4,096 tokens, at $10 a million.
  const short = await limited(0.02);
  const asked = vendor.seen.length;
  for (const more of [{}, { max_output_tokens: 16 }])
    expect(await refusalOf(short.responses.compact({ model: "long", input: "Hello", ...more }))).toMatchObject({ status: 429 });
  expect(vendor.seen.length).toBe(asked);
  expect((await short.responses.inputTokens.count({ model: "long", input: "Hello" })).input_tokens).toBeGreaterThan(0);
  const { response } = await (await limited(0.05)).responses.compact({ model: "long", input: "Hello" }).withResponse();
  expect(JSON.parse(vendor.seen.at(-1)?.body ?? "")).toEqual({ model: "long-of-vendor", input: "Hello" });
  expect((await rowOf(admin, { id: response.headers.get("x-request-id") })).custom_metadata?.parameters_clamped ?? null).toBe(null);
});
