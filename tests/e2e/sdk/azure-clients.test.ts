import { afterAll, beforeAll, expect, test } from "bun:test";
import { AzureOpenAI } from "openai";
import { rowOf, serveModels, type Served } from "../../support/worlds/admin.ts";
import { startWorld, type World } from "../../support/world.ts";

/** What Azure OpenAI's own client requests, at the paths it uses. */

let world: World;
let served: Served;
let client: AzureOpenAI;

beforeAll(async () => {
  world = await startWorld();
  served = await serveModels(world.admin, world.upstream.baseUrl, ["fake-1", "team/fake 2"]);
  client = new AzureOpenAI({ endpoint: world.gateway.runtimeUrl, apiKey: served.apiKey, apiVersion: "2026-01-01", maxRetries: 0 });
});
afterAll(() => world.end());

const messages = [{ role: "user" as const, content: "Hello" }];
const deployment = (name: string, body: object, headers: Record<string, string> = { "api-key": served.apiKey }) =>
  fetch(`${world.gateway.runtimeUrl}/openai/deployments/${name}/chat/completions?api-version=2026-01-01`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
const seenModel = () => JSON.parse(world.upstream.seen.at(-1)?.body ?? "{}").model;

test.each(["fake-1", "team/fake 2"])("the deployment %s is the model of that name", async (model) => {
  const { data, response } = await client.chat.completions.create({ model, messages }).withResponse();
  expect([data.choices[0]?.message.content, seenModel()]).toEqual([expect.any(String), model]);
  const stream = await client.chat.completions.create({ model, messages, stream: true });
  let streamed = "";
  for await (const chunk of stream) streamed += chunk.choices[0]?.delta.content ?? "";
  expect(streamed).toBe(data.choices[0]?.message.content as string);
  expect(await rowOf(world.admin, { id: response.headers.get("x-request-id") })).toMatchObject({
    proxy_subtype: "chat_completions",
    llm_model_used: model,
    success: true,
  });
});

test("the deployment in the path decides, whatever model the body names", async () => {
  const id = served.models["fake-1"];
  const bodies = [{ messages }, { model: "fake-1", messages }, { messages, model: "no such model" }, { messages, model_id: id }];
  for (const body of [...bodies, { model: "team/fake 2", model_id: id, messages }]) {
    expect((await deployment("team%2Ffake%202", body)).status).toBe(200);
    expect(seenModel()).toBe("team/fake 2");
  }
  const unknown = await deployment("none", { model: "fake-1", messages });
  expect([unknown.status, await unknown.json()]).toEqual([404, expect.objectContaining({ code: "model_not_found" })]);
});

test("an invalid body gets the same error as at OpenAI's path, and a missing key 401", async () => {
  const broken = await fetch(`${world.gateway.runtimeUrl}/openai/deployments/fake-1/chat/completions`, {
    method: "POST",
    headers: { "api-key": served.apiKey },
    body: '{"messages":[],"messages":[]}',
  });
  expect([broken.status, await broken.json()]).toEqual([400, expect.objectContaining({ code: "invalid_body" })]);
  expect((await deployment("fake-1", { messages }, {})).status).toBe(401);
});

test("responses and models are served beside deployments", async () => {
  const response = await client.responses.create({ model: "fake-1", input: "Hello" });
  expect(response.output_text).not.toBe("");
  const names: string[] = [];
  for await (const { id } of client.models.list()) names.push(id);
  expect(names.sort()).toEqual(["fake-1", "team/fake 2"]);
});
