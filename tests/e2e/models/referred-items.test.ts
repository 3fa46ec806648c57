import { afterAll, beforeAll, expect, test } from "bun:test";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, jsonSchema, type ModelMessage, stepCountIs, streamText, tool } from "ai";
import OpenAI from "openai";
import { rowOf } from "../../support/worlds/admin.ts";
import { PROVIDERS, REASONING } from "../../support/vendors/matrix.ts";
import { AFTER_TOOL, TEXT } from "../../support/vendors/scene.ts";
import { PROMPT, TOOL_DESCRIPTION, TOOL_NAME, TOOL_SCHEMA } from "../../support/vendors/sdk.ts";
import { type SdkWorld, startSdkWorld } from "../../support/vendors/sdk-world.ts";

/** The AI SDK with its defaults: it assumes that answers are stored, and refers to their items instead of sending them. */
let world: SdkWorld;

beforeAll(async () => {
  world = await startSdkWorld();
});

afterAll(() => world.end());

const modelOf = (id: string) =>
  createOpenAI({ baseURL: `${world.gateway.runtimeUrl}/v1/proxy/llm`, apiKey: world.apiKey }).responses(`sdk-${id}`);

// A provider that stores responses itself gets the references unchanged.
const providers = PROVIDERS.map(({ id }) => id).filter((id) => id !== "openai-responses");
const table = providers.flatMap((id) => [[id, false] as const, [id, true] as const]);

async function say(id: string, messages: ModelMessage[], stream: boolean, more: object = {}) {
  const asked = { model: modelOf(id), maxRetries: 0, messages, ...more };
  if (!stream) {
    const { text, response } = await generateText(asked);
    return { text, messages: response.messages, id: response.headers?.["x-request-id"] };
  }
  const result = streamText(asked);
  await result.consumeStream();
  const { messages: said, headers } = await result.response;
  return { text: await result.text, messages: said, id: headers?.["x-request-id"] };
}

test.each(table)("a conversation that refers to earlier items continues with %s (streamed: %p)", async (id, stream) => {
  const question: ModelMessage = { role: "user", content: PROMPT };
  const first = await say(id, [question], stream);
  expect(JSON.stringify(first.messages)).toContain("itemId");
  const second = await say(id, [question, ...first.messages, { role: "user", content: "And now?" }], stream);
  const { request_body_preview: sent } = await rowOf(world.admin, { id: second.id });
  // The provider gets the model's words, not a reference to them.
  expect(sent).toContain(first.text);
  expect(sent).not.toContain("item_reference");
});

test.each(table.filter(([id]) => id !== "echo"))(
  "a tool loop that refers to earlier items completes with %s (streamed: %p)",
  async (id, stream) => {
    const reasons = (REASONING.providers as readonly string[]).includes(id);
    const { text } = await say(id, [{ role: "user", content: PROMPT }], stream, {
      stopWhen: stepCountIs(3),
      tools: { [TOOL_NAME]: tool({ description: TOOL_DESCRIPTION, inputSchema: jsonSchema(TOOL_SCHEMA), execute: async () => "4" }) },
      ...(reasons ? { providerOptions: { openai: { forceReasoning: true, reasoningEffort: "low", reasoningSummary: "auto" } } } : {}),
    });
    expect(text).toBe(AFTER_TOOL);
  },
);

test("an item can be referred to only with the credential that received it", async () => {
  const clientOf = (apiKey: string) => new OpenAI({ baseURL: `${world.gateway.runtimeUrl}/v1/proxy/llm`, apiKey, maxRetries: 0 });
  const own = clientOf(world.apiKey).responses;
  const { output } = await own.create({ model: "sdk-anthropic", input: PROMPT });
  const input: OpenAI.Responses.ResponseInput = [
    { role: "user", content: PROMPT },
    { type: "item_reference", id: output[0]?.id as string },
    { role: "user", content: "And now?" },
  ];
  expect((await own.create({ model: "sdk-anthropic", input })).output_text).toBe(TEXT);
  const { key_value: other } = await world.admin.post(`/v1/admin/resource-groups/${world.groupId}/api-keys`, {
    name: "another key",
    access_mode: "shared",
  });
  const error = await clientOf(other)
    .responses.create({ model: "sdk-anthropic", input })
    .catch((refused: unknown) => refused);
  expect(error).toBeInstanceOf(OpenAI.BadRequestError);
  expect((error as Error).message).toContain("`input[1].id` names an item that is not kept");
});

test.each([false, true])("items of a cached answer can be referred to (streamed: %p)", async (stream) => {
  const group = await world.admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: `cached ${stream}`, group_type: "team" });
  const model = `cached-${stream}`;
  await world.admin.post("/v1/admin/llms", {
    tenant_id: "default",
    name: model,
    provider: "fake-anthropic",
    model_name: "claude-sonnet-4-5",
    modes: ["chat"],
    group_ids: [group.id],
  });
  await world.admin.post("/v1/admin/semantic-cache/configs", {
    tenant_id: "default",
    name: `cache ${stream}`,
    enabled: true,
    group_ids: [group.id],
    exact_match: { enabled: true, ttl_seconds: 600 },
  });
  const { key_value: apiKey } = await world.admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, {
    name: "key",
    access_mode: "shared",
  });
  const { responses } = new OpenAI({ baseURL: `${world.gateway.runtimeUrl}/v1/proxy/llm`, apiKey, maxRetries: 0 });
  const asked = { model, input: PROMPT, temperature: 0 };
  await responses.create(asked);
  const again = stream ? await responses.stream(asked).finalResponse() : await responses.create(asked);
  expect((await rowOf(world.admin, { resource_group_id: group.id, llm_cache_hit: true })).llm_cache_layer).toBe("exact");
  const input: OpenAI.Responses.ResponseInput = [
    { role: "user", content: PROMPT },
    { type: "item_reference", id: again.output[0]?.id as string },
    { role: "user", content: "And now?" },
  ];
  expect((await responses.create({ model, input })).output_text).toBe(TEXT);
});
