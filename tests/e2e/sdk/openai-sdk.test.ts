import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { type AdminClient, rowOf, type Served, serveModels } from "../../support/worlds/admin.ts";
import { ANSWER, type FakeUpstream, STREAM_WORDS } from "../../support/vendors/fake-upstream.ts";
import type { GatewayProcess } from "../../support/gateway.ts";
import { startWorld, type World } from "../../support/world.ts";

/** The official client, unchanged except for base URL and key. */
let world: World;
let upstream: FakeUpstream;
let gateway: GatewayProcess;
let admin: AdminClient;
let served: Served;
let client: OpenAI;

beforeAll(async () => {
  world = await startWorld();
  ({ upstream, gateway, admin } = world);
  served = await serveModels(admin, upstream.baseUrl, ["fake-1", "tools", "bad-request", "slow-down", "broken", "torn"]);
  client = new OpenAI({ baseURL: `${gateway.runtimeUrl}/v1/proxy/llm`, apiKey: served.apiKey, maxRetries: 0 });
});

afterAll(() => world.end());

const messages = [{ role: "user" as const, content: "Hi" }];

describe("the official openai client", () => {
  test("gets a completion whose request ID is that of its audit row", async () => {
    const { data, response } = await client.chat.completions.create({ model: "fake-1", messages }).withResponse();
    expect(data.choices[0]?.message.content).toBe(ANSWER.choices[0]?.message.content as string);
    expect(response.headers.get("x-gw-ai-generated")).toBe("true");
    const row = await rowOf(admin, { id: response.headers.get("x-request-id") });
    expect(row).toMatchObject({ success: true, llm_model_used: "fake-1", llm_total_tokens: 1500, upstream_request_id: "req_fake" });
  });

  test("streams chunk by chunk", async () => {
    const stream = await client.chat.completions.create({ model: "fake-1", messages, stream: true });
    const words: string[] = [];
    for await (const chunk of stream) {
      expect(chunk.choices).not.toHaveLength(0);
      const word = chunk.choices[0]?.delta.content;
      if (word) words.push(word);
    }
    expect(words).toEqual(STREAM_WORDS);
  });

  test("gets the usage of a stream if requested", async () => {
    const stream = await client.chat.completions.create({
      model: "fake-1",
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
    let usage: unknown;
    for await (const chunk of stream) usage = chunk.usage ?? usage;
    expect(usage).toMatchObject({ total_tokens: 16 });
  });

  test("gets tool calls, whole and streamed", async () => {
    const tools = [
      {
        type: "function" as const,
        function: { name: "weather", parameters: { type: "object", properties: { city: { type: "string" } } } },
      },
    ];
    const plain = await client.chat.completions.create({ model: "tools", messages, tools });
    expect(plain.choices[0]?.message.tool_calls?.[0]).toMatchObject({
      id: "call_1",
      function: { name: "weather", arguments: '{"city":"Oslo"}' },
    });
    const final = await client.chat.completions.stream({ model: "tools", messages, tools }).finalChatCompletion();
    expect(final.choices[0]?.message.tool_calls?.[0]).toMatchObject({
      id: "call_1",
      function: { name: "weather", arguments: '{"city":"Oslo"}' },
    });
  });

  test("lists the models of its group and retrieves one", async () => {
    const names = (await client.models.list()).data.map(({ id }) => id).sort();
    expect(names).toEqual(["bad-request", "broken", "fake-1", "slow-down", "tools", "torn"]);
    expect(await client.models.retrieve("fake-1")).toMatchObject({ id: "fake-1", object: "model", owned_by: "fake" });
    expect(await client.models.retrieve(served.models["fake-1"] as string)).toMatchObject({ id: "fake-1" });
  });

  test.each([
    ["a wrong key", { apiKey: `sk_gw_api_${"x".repeat(43)}` }, "fake-1", OpenAI.AuthenticationError, 401],
    ["an unknown model", {}, "no-such-model", OpenAI.NotFoundError, 404],
    ["a model of another group", {}, "echo", OpenAI.PermissionDeniedError, 403],
    ["a request that the provider refuses", {}, "bad-request", OpenAI.BadRequestError, 400],
    ["a rate-limited provider", {}, "slow-down", OpenAI.RateLimitError, 429],
    ["a failing provider", {}, "broken", OpenAI.InternalServerError, 502],
  ])("raises its own error class for %s", async (_name, options, model, kind, status) => {
    const other = client.withOptions(options);
    const error = await other.chat.completions.create({ model, messages }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(kind);
    expect((error as InstanceType<typeof OpenAI.APIError>).status).toBe(status);
  });

  test("raises an error when a stream is interrupted", async () => {
    const stream = await client.chat.completions.create({ model: "torn", messages, stream: true });
    const read = async () => {
      for await (const _ of stream) upstream.release();
    };
    await expect(read()).rejects.toBeInstanceOf(OpenAI.APIError);
  });
});
