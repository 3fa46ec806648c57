import { afterAll, beforeAll, expect, test } from "bun:test";
import { rowOf, serveModels, type Served } from "../../support/worlds/admin.ts";
import { startWorld, type World } from "../../support/world.ts";

/** A provider that serves several models is never asked for a different one than access, limits and prices were checked for. */
let world: World;
let served: Served;

beforeAll(async () => {
  world = await startWorld();
  served = await serveModels(world.admin, world.upstream.baseUrl, ["granted", { name: "vectors", mode: "embedding" }]);
});
afterAll(() => world.end());

const post = (path: string, body: object) =>
  fetch(`${world.gateway.runtimeUrl}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": served.apiKey, "anthropic-version": "2023-06-01" },
    body: JSON.stringify(body),
  });

const messages = [{ role: "user", content: "Hello" }];
const CHAT = "/v1/proxy/llm/chat/completions";

test.each<[string, object, string]>([
  [CHAT, { model: "granted", messages, models: ["other"], route: "fallback" }, "models"],
  [CHAT, { model: "granted", messages, stream: true, Fallbacks: ["other"] }, "Fallbacks"],
  [CHAT, { model_id: "", messages, extra_body: { model: "other" } }, "extra_body.model"],
  ["/v1/proxy/llm/responses", { model: "granted", input: "Hello", models: ["other"] }, "models"],
  ["/v1/proxy/llm/completions", { model: "granted", prompt: "Hello", fallbacks: ["other"] }, "fallbacks"],
  ["/v1/proxy/llm/embeddings", { model: "vectors", input: "Hello", fallbacks: ["other"] }, "fallbacks"],
  ["/v1/messages", { model: "granted", max_tokens: 9, messages, fallbacks: "default" }, "fallbacks"],
  ["/v1beta/models/granted:generateContent", { contents: [{ parts: [{ text: "Hello" }] }], models: ["other"] }, "models"],
  ["/openai/deployments/granted/chat/completions", { messages, models: ["other"] }, "models"],
])("%s refuses a body that names other models: %o", async (path, body, field) => {
  const before = world.upstream.seen.length;
  const answer = await post(path, "model_id" in body ? { ...body, model_id: served.models.granted } : body);
  const text = await answer.text();
  expect([answer.status, text]).toEqual([400, expect.stringContaining(field)]);
  expect(text).toContain(`The \`${field}\` parameter is not supported`);
  expect(text).toContain("A routing group tries several.");
  expect(world.upstream.seen.length).toBe(before);
  expect(await rowOf(world.admin, { id: answer.headers.get("x-request-id") })).toMatchObject({
    success: false,
    error_type: "unsupported_parameter",
    target_url: null,
  });
});

test("provider options that name no model pass unchanged", async () => {
  const body = { model: "granted", messages, models: [], provider: { order: ["a"], allow_fallbacks: false }, plugins: [{ id: "web" }] };
  expect((await post(CHAT, body)).status).toBe(200);
  expect(world.upstream.seen.at(-1)?.body).toBe(JSON.stringify(body));
});

test("headers and query parameters with which gateways choose models are not sent upstream", async () => {
  const headers = { "x-portkey-config": "pc-other", "x-litellm-model": "other", "helicone-fallbacks": "[]", "x-model": "other" };
  const answer = await fetch(`${world.gateway.runtimeUrl}${CHAT}?model=other&fallbacks=other`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": served.apiKey, ...headers },
    body: JSON.stringify({ model: "granted", messages }),
  });
  expect(answer.status).toBe(200);
  const { headers: sent = {}, path } = world.upstream.seen.at(-1) ?? {};
  expect(Object.keys(headers).filter((name) => name in sent)).toEqual([]);
  expect(path).toBe("/v1/chat/completions");
});
