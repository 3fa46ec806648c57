import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type AdminClient, rowOf, type Served, serveModels } from "../../support/worlds/admin.ts";
import { fakeVendor } from "../../support/vendors/fake-vendor.ts";
import { newPerson } from "../../support/worlds/portal.ts";
import { startWorld, type World } from "../../support/world.ts";

let world: World;
let admin: AdminClient;
let served: Served;

beforeAll(async () => {
  world = await startWorld();
  ({ admin } = world);
  await admin.post("/v1/admin/llm-router/routing-groups", { tenant_id: "default", id: "impatient", timeout: 0.5 });
  await admin.post("/v1/admin/llm-router/routing-groups", {
    tenant_id: "default",
    id: "any-model",
    name: "Any model",
    routing_strategy: "ordered",
    retry_after: 0,
  });
  served = await serveModels(admin, world.upstream.baseUrl, [
    "plain",
    "broken",
    { name: "stalls", model_name: "hold", routing_group_id: "impatient" },
    { name: "first", model_name: "broken", routing_group_id: "any-model", routing_weight: 5 },
    { name: "second", model_name: "fake-1", routing_group_id: "any-model", routing_weight: 1 },
  ]);
});

afterAll(() => world.end());

function call(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${world.gateway.runtimeUrl}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${served.apiKey}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

const messages = [{ role: "user", content: "Hi" }];
const rowFor = (response: Response) => rowOf(admin, { id: response.headers.get("x-request-id") });

describe("a routing group", () => {
  test("is in the models list as a virtual model", async () => {
    const response = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/models`, {
      headers: { authorization: `Bearer ${served.apiKey}` },
    });
    const { data } = (await response.json()) as { data: { id: string; mode: string }[] };
    expect(data.find(({ id }) => id === "any-model")).toMatchObject({ mode: "routing", object: "model" });
  });

  test("lists the same modes everywhere: those that every enabled member serves", async () => {
    const id = "many-modes";
    const { model_id: virtual } = await admin.post("/v1/admin/llm-router/routing-groups", { tenant_id: "default", id });
    const { total } = await admin.get("/v1/admin/llms?tenant_id=default");
    const modes = [["chat", "responses", "completion"], ["responses", "completion", "chat"], ["chat"]];
    const members = await Promise.all(
      modes.map((of, n) =>
        admin.post("/v1/admin/llms", {
          tenant_id: "default",
          name: `member-${n}`,
          provider: "fake",
          modes: of,
          routing_group_id: id,
          group_ids: [served.groupId],
        }),
      ),
    );
    await admin.request("PATCH", `/v1/admin/llms/${members[2].id}`, { enabled: false });
    await admin.post(`/v1/admin/resource-groups/${served.groupId}/llm-models`, { model_ids: [virtual] });
    const listed = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/models`, {
      headers: { authorization: `Bearer ${served.apiKey}` },
    });
    const { data } = (await listed.json()) as { data: { id: string; modes: string[] }[] };
    const person = await newPerson(world.gateway.runtimeUrl, "chooser");
    await admin.request("PATCH", `/v1/admin/end-users/${person.id}`, { primary_group_id: served.groupId });
    const pages = [
      data,
      (await person.request("GET", "/models")).body.models,
      (await admin.get("/v1/admin/llms?tenant_id=default&mode=routing&page_size=200")).llms,
      (await admin.get("/v1/admin/llm-router/routing-groups?tenant_id=default&page_size=200")).routing_groups,
      (await admin.get(`/v1/admin/resource-groups/${served.groupId}/llm-models?page_size=200`)).llm_models,
    ] as { id: string; name?: string; modes: string[] }[][];
    const shown = pages.map((page) => page.find((one) => one.id === id || one.id === virtual || one.name === id)?.modes);
    expect(shown).toEqual(pages.map(() => ["chat", "completion", "responses"]));
    expect((await admin.get("/v1/admin/llms?tenant_id=default")).total).toBe(total + 3);
  });

  test.each(["any-model", "Any model"])(
    "named %j falls back to the next member when the first fails, and the row says so",
    async (model) => {
      const response = await call("/v1/proxy/llm/chat/completions", { model, messages });
      expect(response.status).toBe(200);
      expect(await rowFor(response)).toMatchObject({
        success: true,
        llm_model_requested: model,
        llm_model_used: "second",
        llm_used_fallback: true,
        llm_fallback_reason: "upstream_error",
        upstream_request_id: "req_fake",
        custom_metadata: {
          attempts: [
            { model: "first", outcome: "upstream_error", status: 500 },
            { model: "second", outcome: "served", status: 200 },
          ],
        },
      });
    },
  );

  test("has no upstream request ID of an earlier member on the row if the last member was unreachable", async () => {
    const id = "out-of-reach";
    const failing = fakeVendor(() => new Response("{}", { status: 500, headers: { "x-request-id": "req_first" } }));
    await admin.post("/v1/admin/llm-router/routing-groups", { tenant_id: "default", id, routing_strategy: "ordered", num_retries: 1 });
    const members = Object.entries({ reached: `${failing.origin}/v1`, away: "http://127.0.0.1:9/v1" });
    for (const [name, base_url] of members) {
      await admin.post("/v1/admin/providers", { tenant_id: "default", provider_key: name, api_format: "openai", base_url });
      const weight = name === "reached" ? 2 : 1;
      const member = { name, provider: name, mode: "chat", routing_group_id: id, routing_weight: weight, group_ids: [served.groupId] };
      await admin.post("/v1/admin/llms", { tenant_id: "default", ...member });
    }
    const response = await call("/v1/proxy/llm/chat/completions", { model: id, messages });
    expect(await rowFor(response)).toMatchObject({
      ...{ llm_model_used: "away", error_type: "upstream_unreachable", upstream_request_id: null },
    });
    await failing.stop();
  });

  test("ends a stream that is silent for longer than its timeout with an error", async () => {
    const response = await call("/v1/proxy/llm/chat/completions", { model: "impatient", messages, stream: true });
    expect(await response.text()).toContain('"code":"upstream_timeout"');
    expect(await rowFor(response)).toMatchObject({ success: false, error_type: "upstream_timeout", llm_model_used: "stalls" });
  });

  test("gives no access to models that are not granted", async () => {
    const other = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "others", group_type: "team" });
    const { key_value: key } = await admin.post(`/v1/admin/resource-groups/${other.id}/api-keys`, {
      name: "others key",
      access_mode: "shared",
    });
    const response = await call("/v1/proxy/llm/chat/completions", { model: "any-model", messages }, { authorization: `Bearer ${key}` });
    expect(response.status).toBe(403);
  });
});

describe("translation", () => {
  test("names the dropped parameters in a header", async () => {
    const response = await call(
      "/v1/messages",
      { model: "plain", max_tokens: 10, messages, top_k: 5 },
      { "anthropic-version": "2023-06-01" },
    );
    expect(response.status).toBe(200);
    expect(response.headers.get("x-gw-dropped-parameters")).toBe("top_k");
    expect(response.headers.get("request-id")).toBe(response.headers.get("x-request-id"));
    expect(JSON.parse(world.upstream.seen.at(-1)?.body ?? "")).not.toHaveProperty("top_k");
  });

  test("refuses by name a parameter that would change the answer, before anything is sent", async () => {
    const before = world.upstream.seen.length;
    const response = await call("/v1/proxy/llm/responses", { model: "plain", input: "Hi", previous_response_id: "resp_1" });
    expect(response.status).toBe(400);
    const body = (await response.json()) as { error: string; code: string };
    expect(body.code).toBe("unsupported_parameter");
    expect(body.error).toContain("`previous_response_id`");
    expect(world.upstream.seen).toHaveLength(before);
    expect(await rowFor(response)).toMatchObject({ success: false, error_type: "unsupported_parameter" });
  });

  test("leaves a key from the query string out of rows and logs", async () => {
    const response = await fetch(`${world.gateway.runtimeUrl}/v1beta/models/plain:generateContent?key=${served.apiKey}`, {
      method: "POST",
      body: JSON.stringify({ contents: [{ role: "user", parts: [{ text: "Hi" }] }] }),
    });
    expect(response.status).toBe(200);
    const row = await rowFor(response);
    expect(row.endpoint).toBe("/v1beta/models/plain:generateContent");
    expect(JSON.stringify(row)).not.toContain(served.apiKey);
    expect(world.gateway.output()).not.toContain(served.apiKey);
  });
});

describe("embeddings of a vendor that takes one text per call", () => {
  test.each([
    ["refuses one text", () => new Response("{}", { status: 429 }), 429],
    ["answers one text with an invalid body", () => new Response("<html>"), 502],
  ])("are metered up to the failure if the vendor %s", async (how, fault, status) => {
    const vendor = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      async fetch(request) {
        const { inputText } = (await request.json()) as { inputText: string };
        return inputText === "fifth" ? fault() : Response.json({ embedding: [1], inputTextTokenCount: 3 });
      },
    });
    const bedrock = { tenant_id: "default", provider_key: `titan-${status}`, name: how, api_format: "bedrock", api_key: "bearer-0001" };
    await admin.post("/v1/admin/providers", { ...bedrock, base_url: `http://127.0.0.1:${vendor.port}` });
    const name = `embeds-${status}`;
    await admin.post("/v1/admin/llms", {
      tenant_id: "default",
      name,
      model_name: "amazon.titan-embed-text-v2:0",
      provider: bedrock.provider_key,
      mode: "embedding",
      input_cost_per_million_tokens: 1_000,
      group_ids: [served.groupId],
    });
    const response = await call("/v1/proxy/llm/embeddings", { model: name, input: ["one", "two", "three", "four", "fifth"] });
    expect(response.status).toBe(status);
    const row = await rowFor(response);
    expect(row).toMatchObject({ success: false, llm_prompt_tokens: 12, llm_estimated_cost_usd: 0.012 });
    expect(row.custom_metadata.attempts).toMatchObject([{ prompt_tokens: 12, cost_usd: 0.012 }]);
    await vendor.stop(true);
  });
});

describe("data residency", () => {
  test("a tenant with allowed regions is served only from them", async () => {
    await admin.request("PATCH", "/v1/admin/tenants/default", { allowed_regions: ["eu"] });
    const refused = await call("/v1/proxy/llm/chat/completions", { model: "plain", messages });
    expect(refused.status).toBe(403);
    expect(await rowFor(refused)).toMatchObject({ proxy_subtype: "residency_violation", residency_class: "blocked", success: false });
    await admin.request("PATCH", `/v1/admin/llms/${served.models.second}`, { residency_region: "eu" });
    const allowed = await call("/v1/proxy/llm/chat/completions", { model: "any-model", messages });
    expect(allowed.status).toBe(200);
    expect(await rowFor(allowed)).toMatchObject({ llm_model_used: "second", residency_class: "allowed", region_routed_to: "eu" });
    // Some vendors let a request choose where it is processed.
    for (const [geo, status] of [
      ["eu", 200],
      ["global", 403],
      [["eu", "us"], 403],
    ] as const) {
      const asked = await call("/v1/proxy/llm/chat/completions", { model: "second", messages, inference_geo: geo });
      expect([geo, asked.status]).toEqual([geo, status]);
      if (status === 403) expect(await rowFor(asked)).toMatchObject({ proxy_subtype: "residency_violation", residency_class: "blocked" });
    }
    await admin.request("PATCH", "/v1/admin/tenants/default", { allowed_regions: [] });
    const anywhere = await call("/v1/proxy/llm/chat/completions", { model: "second", messages, inference_geo: "global" });
    expect(anywhere.status).toBe(200);
  });
});

describe("health checks", () => {
  test("call the provider and update is_healthy", async () => {
    expect(await admin.post(`/v1/admin/llms/${served.models.plain}/health-check`, {})).toMatchObject({ name: "plain", is_healthy: true });
    expect(await admin.post(`/v1/admin/llms/${served.models.broken}/health-check`, {})).toMatchObject({
      is_healthy: false,
      detail: "The provider answered 500.",
    });
    expect((await admin.get(`/v1/admin/llms/${served.models.broken}`)).is_healthy).toBe(false);
    const all = await admin.post("/v1/admin/llms/bulk-health-check", {
      tenant_id: "default",
      model_ids: [served.models.plain, served.models.second, served.models.first],
    });
    expect(all).toMatchObject({ total: 3, healthy: 2 });
  });
});
