import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { fakeVendor, type FakeVendor } from "../support/fake-vendor.ts";
import { answerAnthropic } from "../support/vendors/anthropic.ts";
import { answerOpenai } from "../support/vendors/openai.ts";
import { startWorld, type World } from "../support/world.ts";

/** What a model's record says of how it may be spoken to. */
let world: World;
let vendor: FakeVendor;
let apiKey: string;

beforeAll(async () => {
  vendor = fakeVendor(({ path, headers, body }) => (path.endsWith("/messages") ? answerAnthropic(path, JSON.parse(body), headers) : answerOpenai(path, JSON.parse(body))));
  world = await startWorld();
  const { admin } = world;
  const group = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "team", group_type: "team" });
  const provider = (provider_key: string, api_format: string, base_url: string, more = {}) => admin.post("/v1/admin/providers", { tenant_id: "default", provider_key, api_format, base_url, ...more });
  await provider("compatible", "openai", `${vendor.origin}/v1`);
  await provider("older", "openai", `${vendor.origin}/v1`, { max_tokens_parameter: "max_tokens" });
  await provider("fake-anthropic", "anthropic", vendor.origin);
  const model = (name: string, owner: string, more = {}) => admin.post("/v1/admin/llms", { tenant_id: "default", name, provider: owner, modes: ["chat"], group_ids: [group.id], ...more });
  await model("plain", "compatible");
  await model("gpt-6-fake", "compatible");
  await model("older", "older", { default_max_tokens: 50 });
  await model("newer", "older", { max_tokens_parameter: "max_completion_tokens" });
  await model("sampled", "fake-anthropic", { model_name: "claude-sonnet-4-5", default_temperature: 0.5 });
  await model("unsampled", "fake-anthropic", { model_name: "claude-opus-5", default_temperature: 0.5 });
  await model("by-record", "fake-anthropic", { model_name: "house-model", supports_sampling: false, supports_system_turns: false });
  ({ key_value: apiKey } = await admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, { name: "key", access_mode: "shared" }));
}, 60_000);

afterAll(async () => {
  await world.end();
  await vendor.stop();
});

async function sent(path: string, body: unknown): Promise<{ body: Record<string, unknown>; text: string; dropped: string | null }> {
  const response = await fetch(`${world.gateway.runtimeUrl}${path}`, { method: "POST", headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json", "anthropic-version": "2023-06-01" }, body: JSON.stringify(body) });
  expect(response.status).toBe(200);
  const text = vendor.seen.at(-1)?.body ?? "";
  return { body: JSON.parse(text), text, dropped: response.headers.get("x-gw-dropped-parameters") };
}

const CHAT = "/v1/proxy/llm/chat/completions";
const messages = [{ role: "user", content: "Hi" }];

describe("the ceiling on output", () => {
  test.each([
    ["plain", "max_tokens"],
    ["gpt-6-fake", "max_completion_tokens"],
    ["older", "max_tokens"],
    ["newer", "max_completion_tokens"],
  ])("of a translated call to %s is called %s", async (model, name) => {
    const { body } = await sent("/v1/messages", { model, max_tokens: 7, messages });
    expect([body.max_tokens, body.max_completion_tokens]).toEqual(name === "max_tokens" ? [7, undefined] : [undefined, 7]);
  });

  test("passes as the caller called it where nobody said what it is called", async () => {
    const asked = { model: "plain", messages, max_completion_tokens: 7, a_field_of_tomorrow: 1 };
    expect((await sent(CHAT, asked)).text).toBe(JSON.stringify(asked));
  });

  test("is called what the record says, and nothing else changes", async () => {
    expect((await sent(CHAT, { model: "older", max_completion_tokens: 7, messages })).body).toEqual({ model: "older", max_tokens: 7, messages });
    expect((await sent(CHAT, { model: "newer", max_tokens: 7, max_completion_tokens: 5, messages })).body).toEqual({ model: "newer", max_completion_tokens: 7, messages });
    expect((await sent(CHAT, { model: "older", messages })).body).toEqual({ model: "older", messages, max_tokens: 50 });
    const asked = { model: "older", max_tokens: 7, messages };
    expect((await sent(CHAT, asked)).text).toBe(JSON.stringify(asked));
  });
});

describe("sampling", () => {
  test("is kept from models that take none, and the caller is told", async () => {
    const asked = { messages, temperature: 0.2, top_p: 0.9 };
    expect(await sent(CHAT, { model: "sampled", ...asked })).toMatchObject({ body: { temperature: 0.2, top_p: 0.9 }, dropped: null });
    for (const model of ["unsampled", "by-record"]) {
      const { body, dropped } = await sent(CHAT, { model, ...asked });
      expect([body.temperature, body.top_p, dropped]).toEqual([undefined, undefined, "temperature, top_p"]);
    }
    expect((await sent(CHAT, { model: "unsampled", messages, temperature: 1 })).dropped).toBeNull();
  });

  test("a record's own default goes to no model that takes none", async () => {
    expect((await sent("/v1/messages", { model: "sampled", max_tokens: 5, messages })).body.temperature).toBe(0.5);
    expect((await sent("/v1/messages", { model: "unsampled", max_tokens: 5, messages })).body).not.toHaveProperty("temperature");
  });
});

test("instructions inside a conversation stand where the record says they may", async () => {
  const asked = { messages: [...messages, { role: "system", content: "Be brief." }] };
  expect((await sent(CHAT, { model: "unsampled", ...asked })).body.messages).toContainEqual({ role: "system", content: "Be brief." });
  const { body, dropped } = await sent(CHAT, { model: "by-record", ...asked });
  expect([body.system, dropped]).toEqual(["Be brief.", "messages[].role"]);
});
