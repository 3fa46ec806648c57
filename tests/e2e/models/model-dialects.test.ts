import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { fakeVendor, type FakeVendor } from "../../support/vendors/fake-vendor.ts";
import { answerAnthropic } from "../../support/vendors/anthropic.ts";
import { answerGemini } from "../../support/vendors/gemini.ts";
import { answerOpenai } from "../../support/vendors/openai.ts";
import { startWorld, type World } from "../../support/world.ts";

/** What a model's record says about the parameters it accepts. */
let world: World;
let vendor: FakeVendor;
let apiKey: string;
/** A key of a group with ceilings on temperature and output, which also apply to calls that name neither. */
let governedKey: string;

beforeAll(async () => {
  vendor = fakeVendor(({ path, headers, body }) =>
    path.startsWith("/v1beta/")
      ? answerGemini(path, JSON.parse(body))
      : path.includes("/messages")
        ? answerAnthropic(path, JSON.parse(body), headers)
        : answerOpenai(path, JSON.parse(body)),
  );
  world = await startWorld();
  const { admin } = world;
  const group = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "team", group_type: "team" });
  const provider = (provider_key: string, api_format: string, base_url: string, more = {}) =>
    admin.post("/v1/admin/providers", { tenant_id: "default", provider_key, api_format, base_url, ...more });
  await provider("compatible", "openai", `${vendor.origin}/v1`);
  await provider("older", "openai", `${vendor.origin}/v1`, { max_tokens_parameter: "max_tokens" });
  await provider("fake-anthropic", "anthropic", vendor.origin);
  const model = (name: string, owner: string, more = {}) =>
    admin.post("/v1/admin/llms", { tenant_id: "default", name, provider: owner, modes: ["chat"], group_ids: [group.id], ...more });
  await model("plain", "compatible");
  await model("gpt-6-fake", "compatible");
  await model("older", "older", { default_max_tokens: 50 });
  await model("newer", "older", { max_tokens_parameter: "max_completion_tokens" });
  await model("sampled", "fake-anthropic", { model_name: "claude-sonnet-4-5", default_temperature: 0.5 });
  await model("unsampled", "fake-anthropic", { model_name: "claude-opus-5", default_temperature: 0.5 });
  await model("by-record", "fake-anthropic", { model_name: "house-model", supports_sampling: false, supports_system_turns: false });
  await provider("fake-gemini", "gemini", vendor.origin);
  await model("gemini", "fake-gemini");
  const governed = await admin.post("/v1/admin/resource-groups", {
    tenant_id: "default",
    name: "governed",
    group_type: "team",
    parent_group_id: group.id,
  });
  await admin.request("PATCH", `/v1/admin/resource-groups/${governed.id}/llm-global-governance`, {
    governance: { temperature: { max: 0.3 }, context_window: { max_output_tokens: 9 } },
  });
  ({ key_value: governedKey } = await admin.post(`/v1/admin/resource-groups/${governed.id}/api-keys`, {
    name: "governed key",
    access_mode: "shared",
  }));
  ({ key_value: apiKey } = await admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, { name: "key", access_mode: "shared" }));
});

afterAll(async () => {
  await world.end();
  await vendor.stop();
});

async function sent(
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<{ body: Record<string, unknown>; text: string; dropped: string | null }> {
  const response = await fetch(`${world.gateway.runtimeUrl}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json", "anthropic-version": "2023-06-01", ...headers },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
  const text = vendor.seen.at(-1)?.body ?? "";
  return { body: JSON.parse(text), text, dropped: response.headers.get("x-gw-dropped-parameters") };
}

const CHAT = "/v1/proxy/llm/chat/completions";
const messages = [{ role: "user", content: "Hi" }];

test("a request in Anthropic's format without anthropic-version is of the first version", async () => {
  const asked = (path: string, body: object, version: Record<string, string> = {}) =>
    fetch(`${world.gateway.runtimeUrl}/v1/messages${path}`, {
      method: "POST",
      headers: { "x-api-key": apiKey, "content-type": "application/json", ...version },
      body: JSON.stringify({ messages, ...body }),
    });
  const answers = [
    await asked("", { model: "by-record", max_tokens: 7, temperature: 0.2 }),
    await asked("", { model: "by-record", max_tokens: 7, stream: true }),
    await asked("/count_tokens", { model: "by-record" }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  await Promise.all(answers.map((answer) => answer.text()));
  expect(vendor.seen.slice(-3).map(({ headers }) => headers["anthropic-version"])).toEqual(Array(3).fill("2023-06-01"));
  expect((await asked("", { model: "plain", max_tokens: 7 })).status).toBe(200);
  const later = await asked("", { model: "by-record", max_tokens: 7, temperature: 0.2 }, { "anthropic-version": "2026-10-21" });
  expect(later.status).toBe(400);
});

describe("the output token limit", () => {
  test.each([
    ["plain", "max_tokens"],
    ["gpt-6-fake", "max_completion_tokens"],
    ["older", "max_tokens"],
    ["newer", "max_completion_tokens"],
  ])("of a translated call to %s is named %s", async (model, name) => {
    const { body } = await sent("/v1/messages", { model, max_tokens: 7, messages });
    expect([body.max_tokens, body.max_completion_tokens]).toEqual(name === "max_tokens" ? [7, undefined] : [undefined, 7]);
  });

  test("passes unchanged if the model's record does not say its name", async () => {
    const asked = { model: "plain", messages, max_completion_tokens: 7, a_field_of_tomorrow: 1 };
    expect((await sent(CHAT, asked)).text).toBe(JSON.stringify(asked));
  });

  test("is renamed as the model's record says, and nothing else changes", async () => {
    expect((await sent(CHAT, { model: "older", max_completion_tokens: 7, messages })).body).toEqual({
      model: "older",
      max_tokens: 7,
      messages,
    });
    expect((await sent(CHAT, { model: "newer", max_tokens: 7, max_completion_tokens: 5, messages })).body).toEqual({
      model: "newer",
      max_completion_tokens: 7,
      messages,
    });
    expect((await sent(CHAT, { model: "older", messages })).body).toEqual({ model: "older", messages, max_tokens: 50 });
    const asked = { model: "older", max_tokens: 7, messages };
    expect((await sent(CHAT, asked)).text).toBe(JSON.stringify(asked));
  });
});

describe("sampling parameters", () => {
  test("are dropped for models that take none, and listed in x-gw-dropped-parameters", async () => {
    const asked = { messages, temperature: 0.2, top_p: 0.9 };
    // This model accepts either, but not both.
    expect(await sent(CHAT, { model: "sampled", ...asked })).toMatchObject({ body: { temperature: 0.2 }, dropped: "top_p" });
    expect(await sent(CHAT, { model: "sampled", messages, top_p: 0.9 })).toMatchObject({ body: { top_p: 0.9 }, dropped: null });
    for (const model of ["unsampled", "by-record"]) {
      const { body, dropped } = await sent(CHAT, { model, ...asked });
      expect([body.temperature, body.top_p, dropped]).toEqual([undefined, undefined, "temperature, top_p"]);
    }
    expect((await sent(CHAT, { model: "unsampled", messages, temperature: 1 })).dropped).toBeNull();
  });

  test("set as a default in the record are not sent to a model that takes none", async () => {
    expect((await sent("/v1/messages", { model: "sampled", max_tokens: 5, messages })).body.temperature).toBe(0.5);
    expect((await sent("/v1/messages", { model: "unsampled", max_tokens: 5, messages })).body).not.toHaveProperty("temperature");
  });
});

describe("a governed temperature ceiling", () => {
  const ask = (path: string, body: unknown, headers = {}) => sent(path, body, { authorization: `Bearer ${governedKey}`, ...headers });
  const asked = { max_tokens: 5, messages };

  test("is sent only to a model that takes a temperature", async () => {
    expect((await ask("/v1/messages", { model: "sampled", ...asked })).body.temperature).toBe(0.3);
    expect((await ask("/v1/messages", { model: "unsampled", ...asked })).body).not.toHaveProperty("temperature");
    expect((await ask(CHAT, { model: "unsampled", ...asked })).dropped).toBeNull();
  });

  test("is not sent in an API version that takes none", async () => {
    expect((await ask("/v1/messages", { model: "sampled", ...asked }, { "anthropic-version": "2026-10-21" })).body).not.toHaveProperty(
      "temperature",
    );
    expect((await ask("/v1/messages", { model: "plain", ...asked }, { "anthropic-version": "2026-10-21" })).body.temperature).toBe(0.3);
  });

  test("is not sent with token counts", async () => {
    expect((await ask("/v1/messages/count_tokens", { model: "sampled", messages })).body).toEqual({ model: "claude-sonnet-4-5", messages });
    const contents = [{ role: "user", parts: [{ text: "Hi" }] }];
    expect((await ask("/v1beta/models/gemini:countTokens", { contents })).body).toEqual({ contents });
  });
});

test("system messages inside a conversation stay in place only if the model's record allows it", async () => {
  const asked = { messages: [...messages, { role: "system", content: "Be brief." }] };
  expect((await sent(CHAT, { model: "unsampled", ...asked })).body.messages).toContainEqual({ role: "system", content: "Be brief." });
  const { body, dropped } = await sent(CHAT, { model: "by-record", ...asked });
  expect([body.system, dropped]).toEqual(["Be brief.", "messages[].role"]);
});

test("a media URL in the gateway's own network is not fetched, even at a provider's origin", async () => {
  const asked = vendor.seen.length;
  for (const url of [`${world.gateway.adminUrl}/metrics`, `${vendor.origin}/picture.png`]) {
    const response = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/responses`, {
      method: "POST",
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "gemini", input: [{ role: "user", content: [{ type: "input_file", file_url: url }] }] }),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: "media_unavailable" });
  }
  expect(vendor.seen.length).toBe(asked);
});

describe("a request with a problem in each of its many parts", () => {
  const asked = (part: (i: number) => object) =>
    fetch(`${world.gateway.runtimeUrl}/v1beta/models/plain:generateContent`, {
      method: "POST",
      headers: { "x-goog-api-key": apiKey, "content-type": "application/json" },
      body: JSON.stringify({ contents: [{ parts: Array.from({ length: 5_000 }, (_, i) => part(i)) }] }),
    });

  test("gets the dropped parameters in a header of limited length", async () => {
    const response = await asked((i) => ({ text: "a", [`strange${i}`]: 1 }));
    expect(response.status).toBe(200);
    const dropped = response.headers.get("x-gw-dropped-parameters") ?? "";
    expect(dropped).toStartWith("contents[0].parts[0].strange0, contents[0].parts[1].strange1, ");
    expect(dropped.length).toBeLessThan(2_100);
    const names = dropped.split(", ");
    expect(names.at(-1)).toBe(`and ${5_001 - names.length} more`);
  });

  test("gets dropped names that a header cannot hold percent-encoded", async () => {
    for (const [name, spelled] of [
      ["a\0b\r\n", "a%00b%0D%0A"],
      ["ort/ñ中%", "ort/%C3%B1%E4%B8%AD%25"],
      ["\ud800", "%EF%BF%BD"],
    ] as const) {
      const { dropped } = await sent("/v1/messages", { model: "plain", max_tokens: 7, messages, [name]: 1 });
      expect(dropped).toBe(spelled);
    }
  });

  test("is refused with its first problems only", async () => {
    const response = await asked(() => ({ toolCall: {} }));
    expect(response.status).toBe(400);
    const text = await response.text();
    expect(text.split("cannot be said to the provider").length - 1).toBeLessThanOrEqual(40);
    expect(text.length).toBeLessThan(10_000);
  });
});
