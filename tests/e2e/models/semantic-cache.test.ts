import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { type AdminClient, rowOf, rowsOf, type Served, serveModels, signIn } from "../../support/worlds/admin.ts";
import { testDatabase, type TestDatabase } from "../../support/database.ts";
import { type FakeUpstream, startFakeUpstream } from "../../support/vendors/fake-upstream.ts";
import { type GatewayProcess, removeDirectory, startGateway } from "../../support/gateway.ts";
import { until } from "../../support/until.ts";
import { CLIENTS, PROVIDERS } from "../../support/vendors/matrix.ts";
import { TEXT } from "../../support/vendors/scene.ts";
import { PROMPT } from "../../support/vendors/sdk.ts";
import { type SdkWorld, startSdkWorld } from "../../support/vendors/sdk-world.ts";

const CONFIGS = "/v1/admin/semantic-cache/configs";
const tenant = { tenant_id: "default" };

describe("through official clients", () => {
  let world: SdkWorld;
  let cache: any;
  let hits = 0;

  beforeAll(async () => {
    world = await startSdkWorld();
    const group = (await world.admin.get("/v1/admin/resource-groups?tenant_id=default&search=team")).resource_groups.find(
      ({ name }: { name: string }) => name === "team",
    );
    cache = await world.admin.post(CONFIGS, { ...tenant, name: "answers", group_ids: [group.id] });
  });
  afterAll(() => world.end());

  /** Asks in turn, whole and streamed, starting with an empty cache; all but the first must be hits with the first answer's text. */
  async function askInTurn(client: (typeof CLIENTS)[number]["id"], model: string, text: string, streams: readonly boolean[]) {
    await world.admin.post(`${CONFIGS}/${cache.id}/invalidate`, {});
    for (const stream of streams) expect((await world.clients.sdks[client].ask(model, "text", stream)).text).toBe(text);
    hits += streams.length - 1;
    const rows = await rowsOf(world.admin, { llm_cache_hit: true }, hits);
    expect(rows).toHaveLength(hits);
    for (const row of rows)
      expect(row).toMatchObject({
        success: true,
        llm_cache_layer: "exact",
        llm_cache_similarity_score: null,
        llm_total_tokens: 0,
        llm_estimated_cost_usd: 0,
        target_url: null,
      });
    for (const row of rows) expect(row.llm_tokens_saved).toBeGreaterThan(0);
  }

  test.each(CLIENTS.map(({ id }) => id))("%s gets cached answers whole and streamed, whichever way they were stored", async (client) => {
    await askInTurn(client, "sdk-openai", TEXT, [false, true, false]);
    await askInTurn(client, "sdk-openai", TEXT, [true, false, true]);
  });

  test.each(PROVIDERS.filter(({ id }) => id !== "openai").map(({ id }) => id))("answers of %s are cached", async (provider) => {
    await askInTurn("openai chat", `sdk-${provider}`, provider === "echo" ? PROMPT : TEXT, [false, true]);
    await askInTurn("anthropic 1", `sdk-${provider}`, provider === "echo" ? PROMPT : TEXT, [true, false]);
  });

  test.each(["openai chat", "openai responses", "anthropic 1", "google genai"] as const)(
    "%s gets a cached tool call if include_tools is set",
    async (client) => {
      await world.admin.request("PATCH", `${CONFIGS}/${cache.id}`, { include_tools: true });
      const sdk = world.clients.sdks[client];
      const asked = [
        await sdk.ask("sdk-anthropic", "tools", false),
        await sdk.ask("sdk-anthropic", "tools", true),
        await sdk.ask("sdk-anthropic", "tools", false),
      ];
      for (const { tool } of asked) expect(tool).toEqual({ name: "weather", arguments: { city: "Oslo" } });
      hits += 2;
      expect(await rowsOf(world.admin, { llm_cache_hit: true }, hits)).toHaveLength(hits);
      await world.admin.request("PATCH", `${CONFIGS}/${cache.id}`, { include_tools: false });
    },
  );

  test("a Google client that streams without SSE gets a cached answer as an array", async () => {
    await askInTurn("google genai", "sdk-gemini", TEXT, [false]);
    const key = (await world.admin.post(`/v1/admin/resource-groups/${cache.group_ids[0]}/api-keys`, { name: "array" })).key_value;
    const ask = async () => {
      const response = await fetch(`${world.gateway.runtimeUrl}/v1beta/models/sdk-gemini:streamGenerateContent`, {
        method: "POST",
        headers: { "x-goog-api-key": key, "content-type": "application/json" },
        body: JSON.stringify({ contents: [{ role: "user", parts: [{ text: "as an array" }] }] }),
      });
      const elements = (await response.json()) as { candidates?: { content?: { parts?: { text?: string }[] } }[] }[];
      return [
        response.headers.get("x-gw-cache"),
        elements
          .flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? [])
          .map(({ text }) => text)
          .join(""),
      ];
    };
    expect([await ask(), await ask()]).toEqual([
      [null, TEXT],
      ["exact", TEXT],
    ]);
  });
});

describe("cache entries", () => {
  let database: TestDatabase;
  let upstream: FakeUpstream;
  let gateway: GatewayProcess;
  let admin: AdminClient;
  let served: Served;
  let cache: any;
  let asked = 0;

  beforeAll(async () => {
    database = await testDatabase();
    upstream = startFakeUpstream();
    gateway = await startGateway({ databaseUrl: database.url });
    admin = await signIn(gateway.adminUrl);
    await admin.post("/v1/admin/providers", { ...tenant, provider_key: "parrot", name: "parrot", api_format: "echo" });
    served = await serveModels(admin, upstream.baseUrl, [
      "fake-1",
      "short",
      "nonsense",
      "bad-request",
      "tools",
      { name: "parrot", provider: "parrot" },
      { name: "parrot-embed", provider: "parrot", mode: "embedding", input_cost_per_million_tokens: 1 },
    ]);
    cache = await admin.post(CONFIGS, { ...tenant, name: "answers", group_ids: [served.groupId] });
  });
  afterAll(async () => {
    await gateway.stop();
    await upstream.stop();
    await database.close();
    await removeDirectory(gateway.dataDir);
  });

  const fresh = () => `question ${String.fromCodePoint(97 + (asked % 26)).repeat(1 + Math.floor(asked++ / 26))}`;
  const user = (content: string) => [{ role: "user", content }];

  async function call(body: Record<string, unknown>, options: { key?: string; headers?: Record<string, string>; url?: string } = {}) {
    const response = await fetch(`${options.url ?? gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${options.key ?? served.apiKey}`, "content-type": "application/json", ...options.headers },
      body: JSON.stringify({ model: "fake-1", ...body }),
    });
    const text = await response.text();
    return { layer: response.headers.get("x-gw-cache"), text, id: response.headers.get("x-request-id") as string, status: response.status };
  }
  const layers = async (...bodies: Record<string, unknown>[]) => {
    const found: (string | null)[] = [];
    for (const body of bodies) found.push((await call(body)).layer);
    return found;
  };

  /** Entries still being written when the cache is invalidated are not kept, so wait until `count` are stored. */
  async function stored(count: number): Promise<void> {
    const entries = () => database.db.selectFrom("semantic_cache_entries").select("id").where("config_id", "=", cache.id).execute();
    await until(entries, (found) => found.length >= count);
  }

  test("hit for the same request, whatever the order of its members and its user", async () => {
    const messages = user(fresh());
    const seen = upstream.seen.length;
    expect(
      await layers(
        { messages, max_tokens: 5 },
        { max_tokens: 5, messages, user: "someone" },
        { messages, max_tokens: 5, stream: true, stream_options: { include_usage: true } },
      ),
    ).toEqual([null, "exact", "exact"]);
    expect(upstream.seen.length).toBe(seen + 1);
  });

  test("do not hit for a request that differs", async () => {
    const question = fresh();
    const messages = user(question);
    const others = [
      { messages: user(`${question}!`) },
      { messages, max_tokens: 9 },
      { messages, seed: 1 },
      { messages, top_p: 0.1 },
      { messages: [{ role: "system", content: "Be short." }, ...messages] },
      { messages, response_format: { type: "json_object" } },
      { messages, model: "parrot" },
      { messages, a_field_of_tomorrow: 1 },
    ];
    expect((await layers({ messages }, ...others)).filter((layer) => layer !== null)).toEqual([]);
  });

  test("are not used when the caller asks for variety, tools or a fresh answer", async () => {
    const messages = user(fresh());
    const tools = [{ type: "function", function: { name: "weather", parameters: { type: "object" } } }];
    for (const body of [
      { messages, temperature: 0.7 },
      { messages, n: 2 },
      { messages, tools },
      { messages, logprobs: true },
    ])
      expect(await layers(body, body)).toEqual([null, null]);
    expect(await layers({ messages, temperature: 0 }, { messages, temperature: 0 })).toEqual([null, "exact"]);
    const seen = upstream.seen.length;
    expect([(await call({ messages, temperature: 0 }, { headers: { "cache-control": "no-cache" } })).layer, upstream.seen.length]).toEqual([
      null,
      seen + 1,
    ]);
    const unkept = { messages: user(fresh()) };
    expect([(await call(unkept, { headers: { "cache-control": "no-store" } })).layer, ...(await layers(unkept, unkept))]).toEqual([
      null,
      null,
      "exact",
    ]);
  });

  test("cover tools and temperatures if so configured", async () => {
    const change = (body: object) => admin.request("PATCH", `${CONFIGS}/${cache.id}`, body);
    await change({ include_tools: true, max_temperature: 1 });
    const tools = [{ type: "function", function: { name: "weather", parameters: { type: "object" } } }];
    const body = { model: "tools", messages: user(fresh()), tools, temperature: 0.9 };
    const first = await call(body);
    const again = await call(body);
    await change({ include_tools: false, max_temperature: 0 });
    expect([first.layer, again.layer]).toEqual([null, "exact"]);
    expect(JSON.parse(again.text).choices[0].message.tool_calls[0].function.name).toBe("weather");
    const plain = { messages: user(fresh()), temperature: 0.9 };
    await change({ max_temperature: 1 });
    expect(await layers(plain, plain)).toEqual([null, "exact"]);
    await change({ max_temperature: 0 });
  });

  test("are not made of refused, interrupted or invalid answers", async () => {
    for (const body of [{ model: "bad-request" }, { model: "short", stream: true }, { model: "nonsense" }]) {
      const messages = user(fresh());
      expect(await layers({ ...body, messages }, { ...body, messages })).toEqual([null, null]);
    }
  });

  test("are not shared with another group, unless the scope is tenant and the policies are the same", async () => {
    const body = { messages: user(fresh()) };
    const made = await admin.post("/v1/admin/resource-groups", { ...tenant, name: "other team", group_type: "team" });
    await admin.post(`/v1/admin/resource-groups/${made.id}/llm-models`, { model_ids: [served.models["fake-1"]] });
    const { key_value: key } = await admin.post(`/v1/admin/resource-groups/${made.id}/api-keys`, { name: "other" });
    expect([...(await layers(body, body)), (await call(body, { key })).layer]).toEqual([null, "exact", null]);
    await admin.post(`${CONFIGS}/${cache.id}/groups`, { group_ids: [made.id] });
    // Although bound to both, each group has its own entries.
    expect([(await call(body, { key })).layer, (await call(body, { key })).layer]).toEqual([null, "exact"]);
    await admin.request("PATCH", `${CONFIGS}/${cache.id}`, { scope: "tenant" });
    const shared = { messages: user(fresh()) };
    expect([...(await layers(shared)), (await call(shared, { key })).layer]).toEqual([null, "exact"]);
    await admin.request("PATCH", `/v1/admin/resource-groups/${made.id}/llm-global-governance`, {
      governance: { temperature: { max: 0.5 } },
    });
    expect((await call(shared, { key })).layer).toBeNull();
    await admin.request("PATCH", `${CONFIGS}/${cache.id}`, { scope: "group" });
  });

  test("are not shared with a child group under another policy, but its parent's cache configuration applies", async () => {
    const child = await admin.post("/v1/admin/resource-groups", {
      ...tenant,
      name: "child team",
      group_type: "team",
      parent_group_id: served.groupId,
    });
    const { key_value: key } = await admin.post(`/v1/admin/resource-groups/${child.id}/api-keys`, { name: "child" });
    const body = { messages: user(fresh()) };
    expect([(await call(body)).layer, (await call(body, { key })).layer, (await call(body, { key })).layer]).toEqual([null, null, "exact"]);
  });

  test("do not hit after a change of the model or of the policies", async () => {
    const body = { messages: user(fresh()) };
    expect(await layers(body, body)).toEqual([null, "exact"]);
    await admin.request("PATCH", `/v1/admin/llms/${served.models["fake-1"]}`, { system_prompt: "Be kind." });
    expect(await layers(body, body)).toEqual([null, "exact"]);
    await admin.request("PATCH", `/v1/admin/llms/${served.models["fake-1"]}`, { system_prompt: null });
    await admin.request("PATCH", `/v1/admin/resource-groups/${served.groupId}/llm-global-governance`, {
      governance: { context_window: { max_output_tokens: 4000 } },
    });
    expect(await layers(body, body)).toEqual([null, "exact"]);
    await admin.request("PATCH", `/v1/admin/resource-groups/${served.groupId}/llm-global-governance`, { governance: {} });
  });

  test("are not made of answers a guardrail changed, and older entries do not hit under a new guardrail", async () => {
    const body = { model: "parrot", messages: user(`${fresh()} to frodo@example.com`) };
    const plain = { model: "parrot", messages: user(fresh()) };
    expect(await layers(body, body, plain, plain)).toEqual([null, "exact", null, "exact"]);
    const guardrail = await admin.post("/v1/admin/guardrails/configs", {
      ...tenant,
      name: "mails",
      surfaces: { chat_output: true },
      builtin: { pii_enabled: true, pii_action: "redact" },
      group_ids: [served.groupId],
    });
    const redacted = [await call(body), await call(body), await call({ ...body, stream: true })];
    expect(redacted.map(({ layer, text }) => [layer, text.includes("frodo@")])).toEqual([
      [null, false],
      [null, false],
      [null, false],
    ]);
    expect(await layers(plain, plain)).toEqual([null, "exact"]);
    await admin.request("DELETE", `/v1/admin/guardrails/configs/${guardrail.id}`);
    expect(await layers(body)).toEqual(["exact"]);
  });

  test("do not hit after they were dropped: all, of one model, or older than a time", async () => {
    const one = { messages: user(fresh()) };
    const other = { messages: user(fresh()), model: "parrot" };
    const drop = (body: object) => admin.post(`${CONFIGS}/${cache.id}/invalidate`, body);
    await drop({});
    expect(await layers(one, other, one, other)).toEqual([null, null, "exact", "exact"]);
    await stored(2);
    expect(await drop({ model: "parrot" })).toEqual({ invalidated: 1 });
    expect(await layers(one, other)).toEqual(["exact", null]);
    await stored(2);
    expect(await drop({ before: "2020-01-01T00:00:00Z" })).toEqual({ invalidated: 0 });
    expect(await layers(one, other)).toEqual(["exact", "exact"]);
    expect(await drop({ before: new Date(Date.now() + 60_000).toISOString() })).toEqual({ invalidated: 2 });
    expect(await layers(one, other)).toEqual([null, null]);
  });

  test("hit for a question of the same meaning, with a metered embedding call in a row of its own", async () => {
    await admin.request("PATCH", `${CONFIGS}/${cache.id}`, {
      semantic_match: { enabled: true, similarity_threshold: 0.9 },
      embedding_model_id: served.models["parrot-embed"],
    });
    const system = { role: "system", content: "Answer." };
    const ask = (content: string, model = "parrot", head: object[] = [system]) =>
      call({ model, messages: [...head, { role: "user", content }] });
    const first = await ask("What is the capital of France, please?");
    const near = await ask("what is the Capital of France please");
    expect([first.layer, near.layer]).toEqual([null, "semantic"]);
    expect(JSON.parse(near.text).choices[0].message.content).toBe("What is the capital of France, please?");
    const row = await rowOf(admin, { id: near.id });
    expect(row).toMatchObject({ llm_cache_hit: true, llm_cache_layer: "semantic", llm_model_used: "parrot", llm_estimated_cost_usd: 0 });
    expect(row.llm_cache_similarity_score).toBeWithin(0.9, 1.0001);
    const [nested] = await rowsOf(admin, { parent_request_id: near.id }, 1);
    expect(nested).toMatchObject({
      proxy_subtype: "semantic_cache_embedding",
      llm_model_used: "parrot-embed",
      root_task_id: row.root_task_id,
      resource_group_id: served.groupId,
      success: true,
    });
    expect(nested.llm_prompt_tokens).toBeGreaterThan(0);
    expect(nested.llm_estimated_cost_usd).toBeGreaterThan(0);
    // Other instructions, another model, an earlier turn, other numbers or other words make it a different question.
    const others = [
      ask("What is the capital of France please", "parrot", [{ role: "system", content: "Answer in verse." }]),
      ask("What is the capital of France please", "fake-1"),
      ask("what is the capital of France please 2"),
      ask("How do I bake bread with a sourdough starter?"),
    ];
    for (const other of await Promise.all(others)) expect(other.layer).toBeNull();
    await admin.request("PATCH", `${CONFIGS}/${cache.id}`, { semantic_match: { enabled: false } });
  });

  test("hit in another process that has just started; a hit takes less than 3 ms", async () => {
    const body = { messages: user(fresh()) };
    expect(await layers(body)).toEqual([null]);
    const second = await startGateway({ databaseUrl: database.url, env: { GW_SECRET_KEY: await secretKeyOf(gateway) } });
    expect((await call(body, { url: second.runtimeUrl })).layer).toBe("exact");
    await second.stop();
    await removeDirectory(second.dataDir);
    const ids: string[] = [];
    const wall: number[] = [];
    for (let i = 0; i < 50; i++) {
      const began = performance.now();
      const { id, layer } = await call(body);
      wall.push(performance.now() - began);
      expect(layer).toBe("exact");
      ids.push(id);
    }
    await rowOf(admin, { id: ids.at(-1) });
    const durations = (await rowsOf(admin, { id: ids }, 50)).map(({ duration_ms }) => duration_ms as number).sort((a, b) => a - b);
    wall.sort((a, b) => a - b);
    console.log(
      `a hit: row p50 ${durations[25]} ms, p90 ${durations[45]} ms; seen by the client p50 ${wall[25]?.toFixed(1)} ms, p90 ${wall[45]?.toFixed(1)} ms`,
    );
    expect(durations[25]).toBeLessThan(3);
  });

  test("count as a request and cost nothing, under a routing group too", async () => {
    await admin.post("/v1/admin/llm-router/routing-groups", { ...tenant, id: "any" });
    const made = await admin.post("/v1/admin/resource-groups", { ...tenant, name: "counted", group_type: "team" });
    await admin.post("/v1/admin/llms", {
      ...tenant,
      name: "member",
      model_name: "fake-1",
      provider: "fake",
      mode: "chat",
      routing_group_id: "any",
      group_ids: [made.id],
      input_cost_per_million_tokens: 5,
      output_cost_per_million_tokens: 5,
    });
    await admin.post(`${CONFIGS}/${cache.id}/groups`, { group_ids: [made.id] });
    await admin.request("PATCH", `/v1/admin/resource-groups/${made.id}/llm-global-limits`, {
      llm_global_limits: { requests: { daily_limit: 3 }, tokens: { daily_limit: 10_000 } },
    });
    const { key_value: key } = await admin.post(`/v1/admin/resource-groups/${made.id}/api-keys`, { name: "counted" });
    const body = { model: "any", messages: user(fresh()), max_tokens: 50 };
    const answers = [await call(body, { key }), await call(body, { key }), await call(body, { key }), await call(body, { key })];
    expect(answers.map(({ status, layer }) => [status, layer])).toEqual([
      [200, null],
      [200, "exact"],
      [200, "exact"],
      [429, null],
    ]);
    const [first, hit] = [await rowOf(admin, { id: answers[0]?.id }), await rowOf(admin, { id: answers[1]?.id })];
    expect(first.llm_estimated_cost_usd).toBeGreaterThan(0);
    expect(hit).toMatchObject({
      llm_model_requested: "any",
      llm_model_used: "member",
      llm_total_tokens: 0,
      llm_estimated_cost_usd: 0,
      llm_tokens_saved: 1500,
    });
  });

  test("look like any answer to the official client", async () => {
    const openai = new OpenAI({ apiKey: served.apiKey, baseURL: `${gateway.runtimeUrl}/v1/proxy/llm` });
    const body = { model: "fake-1", messages: [{ role: "user" as const, content: fresh() }] };
    const [first, again] = [await openai.chat.completions.create(body), await openai.chat.completions.create(body)];
    expect(again.choices[0]?.message.content).toBe(first.choices[0]?.message.content as string);
    expect([again.id, again.usage?.total_tokens, again.choices[0]?.finish_reason]).toEqual([first.id, 1500, "stop"]);
  });
});

async function secretKeyOf({ dataDir }: GatewayProcess): Promise<string> {
  return (await Bun.file(`${dataDir}/secrets/secret-key`).text()).trim();
}
