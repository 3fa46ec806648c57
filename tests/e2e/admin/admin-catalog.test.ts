import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { controlPlane, movableClock, newTenant, type ControlPlane, type TenantWithAdmin } from "./admin-harness.ts";

const CATALOG = "/v1/admin/llm-catalog";
const MODELS = "/v1/admin/llms";
const SONNET = {
  input_cost_per_million_tokens: 2,
  output_cost_per_million_tokens: 10,
  cache_read_cost_per_million_tokens: 0.2,
  cache_write_cost_per_million_tokens: 2.5,
  cache_write_hour_cost_per_million_tokens: 4,
};

let plane: ControlPlane;
let acme: TenantWithAdmin;
const clock = movableClock();

beforeAll(async () => {
  plane = await controlPlane({ clock });
  acme = await newTenant(plane, "acme");
});

afterAll(() => plane.close());

describe("the model catalog", () => {
  test("is listed by provider, mode and part of a name, with pages", async () => {
    const found = await acme.send("GET", `${CATALOG}?provider_key=anthropic&mode=chat&search=sonnet-5&limit=1`);
    expect(found.body).toMatchObject({ total: 1, page: 1, page_size: 1 });
    expect(found.body.entries[0]).toMatchObject({
      id: "anthropic:claude-sonnet-5",
      provider_key: "anthropic",
      model_name: "claude-sonnet-5",
      mode: "chat",
      max_output_tokens: null,
      ...SONNET,
    });
    expect(
      (await acme.send("GET", `${CATALOG}?mode=embedding&provider_key=openai`)).body.entries.map(
        (one: { model_name: string }) => one.model_name,
      ),
    ).toEqual(["text-embedding-3-large", "text-embedding-3-small", "text-embedding-ada-002"]);
    expect((await plane.system("GET", `${CATALOG}?page=2&page_size=10`)).body.entries.length).toBe(10);
    expect((await acme.send("GET", `${CATALOG}?mode=routing`)).status).toBe(400);
  });

  test("returns an entry by its ID", async () => {
    expect((await acme.send("GET", `${CATALOG}/openai:gpt-4o`)).body.name).toBe("gpt 4o");
    expect((await acme.send("GET", `${CATALOG}/openrouter:anthropic--claude-3.7-sonnet`)).body.model_name).toBe(
      "anthropic/claude-3.7-sonnet",
    );
    expect((await acme.send("GET", `${CATALOG}/openai:nothing`)).body.code).toBe("not_found");
  });
});

describe("an import from the catalog", () => {
  test("creates the model with its prices and grants, and its provider", async () => {
    const group = (await acme.send("POST", "/v1/admin/resource-groups", { name: "team" })).body;
    const made = await acme.send("POST", `${CATALOG}/anthropic:claude-sonnet-5/import`, {
      name: "sonnet",
      group_ids: [group.id],
      api_key: "sk-ant-1234567890",
    });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      name: "sonnet",
      model_name: "claude-sonnet-5",
      provider: "anthropic",
      enabled: true,
      group_ids: [group.id],
      has_api_key: true,
      context_window: 1_000_000,
      supports_vision: true,
      ...SONNET,
    });
    const provider = (await acme.send("GET", "/v1/admin/providers?provider_key=anthropic")).body.providers[0];
    expect(provider).toMatchObject({
      api_format: "anthropic",
      base_url: "https://api.anthropic.com/v1",
      has_api_key: false,
      enabled: true,
    });
    const log = (await acme.send("GET", "/v1/admin/admin-log")).body.entries.map(
      (entry: { action: string; resource: string }) => `${entry.action} ${entry.resource}`,
    );
    expect(log.slice(0, 2).sort()).toEqual(["create models", "create providers"]);

    const second = await acme.send("POST", `${CATALOG}/anthropic:claude-haiku-4-5/import`, { enabled: false });
    expect(second.body).toMatchObject({ name: "claude-haiku-4-5", enabled: false, provider_id: provider.id });
    const again = await acme.send("POST", `${CATALOG}/anthropic:claude-sonnet-5/import`, { name: "sonnet" });
    expect([again.status, again.body.code, again.body.existing_id]).toEqual([409, "conflict", made.body.id]);
  });

  test("keeps an existing provider's address, and refuses a vendor whose address only the customer knows", async () => {
    await acme.send("POST", "/v1/admin/providers", { provider_key: "groq", api_format: "openai", base_url: "https://groq.proxy.test/v1" });
    expect((await acme.send("POST", `${CATALOG}/groq:llama-3.3-70b-versatile/import`)).status).toBe(201);
    expect((await acme.send("GET", "/v1/admin/providers?provider_key=groq")).body.providers[0].base_url).toBe("https://groq.proxy.test/v1");
    const refused = await acme.send("POST", `${CATALOG}/azure:phi-4/import`);
    expect([refused.status, refused.body.fields[0].field]).toEqual([400, "provider"]);
    expect((await acme.send("POST", `${CATALOG}/nobody:nothing/import`)).status).toBe(404);
    expect((await acme.send("POST", `${CATALOG}/openai:gpt-4o/import`, { price: 0 })).body.fields[0].field).toBe("price");
  });
});

describe("a created model", () => {
  test("takes omitted fields from the catalog", async () => {
    const made = await acme.send("POST", MODELS, {
      name: "thinker",
      model_name: "gemini-3.1-pro-preview",
      provider: "gemini",
      supports_vision: false,
    });
    expect(made.body).toMatchObject({
      provider: "gemini",
      supports_vision: false,
      supports_tools: true,
      input_cost_per_million_tokens: 2,
      price_tiers: [
        {
          above_input_tokens: 200_000,
          input_cost_per_million_tokens: 4,
          output_cost_per_million_tokens: 18,
          cache_read_cost_per_million_tokens: 0.4,
        },
      ],
    });
    const embedder = await acme.send("POST", MODELS, { name: "text-embedding-3-small", provider: "openai" });
    expect(embedder.body).toMatchObject({
      mode: "embedding",
      modes: ["embedding"],
      input_cost_per_million_tokens: 0.02,
      output_cost_per_million_tokens: null,
    });
  });

  test("has only the given prices when the body sets any price", async () => {
    const made = await acme.send("POST", MODELS, { name: "gpt-5.4", provider: "openai", input_cost_per_million_tokens: 1 });
    expect(made.body).toMatchObject({
      context_window: 1_050_000,
      input_cost_per_million_tokens: 1,
      output_cost_per_million_tokens: null,
      cache_read_cost_per_million_tokens: null,
      price_tiers: [],
    });
    const unpriced = await acme.send("POST", MODELS, { name: "gpt-5.5", provider: "openai", input_cost_per_million_tokens: null });
    expect(unpriced.body).toMatchObject({ input_cost_per_million_tokens: null, output_cost_per_million_tokens: null });
  });

  test("may name its vendor by a common alias", async () => {
    const made = await acme.send("POST", MODELS, { name: "gemini-2.5-flash", provider: "google" });
    expect([made.status, made.body.provider]).toEqual([201, "google"]);
    expect((await acme.send("GET", "/v1/admin/providers?provider_key=google")).body.providers[0].api_format).toBe("gemini");
    expect((await acme.send("GET", `${CATALOG}?provider_key=google&limit=1`)).body.entries[0].provider_key).toBe("gemini");
    expect((await acme.send("GET", `${CATALOG}?provider_key=nobody`)).body.total).toBe(0);
  });

  test("is refused for an unknown provider, naming the field", async () => {
    const refused = await acme.send("POST", MODELS, { name: "gpt-4o", provider: "nobody" });
    expect([refused.status, refused.body.fields[0].field]).toEqual([400, "provider"]);
  });
});

describe("scheduled price changes", () => {
  test("that are due become the model's prices on the next write, so that a price written then applies", async () => {
    const soon = new Date(clock.now() + 3_600_000).toISOString();
    const later = new Date(clock.now() + 7 * 86_400_000).toISOString();
    const made = await acme.send("POST", MODELS, {
      name: "changing",
      provider: "openai",
      input_cost_per_million_tokens: 1,
      output_cost_per_million_tokens: 4,
      price_tiers: [{ above_input_tokens: 10, input_cost_per_million_tokens: 2 }],
      price_changes: [
        { effective_from: later, input_cost_per_million_tokens: 9 },
        { effective_from: soon, input_cost_per_million_tokens: 0.5, output_cost_per_million_tokens: 2 },
      ],
    });
    const path = `${MODELS}/${made.body.id}`;
    expect((await acme.send("PATCH", path, { description: "today" })).body).toMatchObject({
      input_cost_per_million_tokens: 1,
      price_changes: [{ effective_from: later }, { effective_from: soon }],
    });
    clock.advance(3_600_001);
    // The existing token would have expired by now.
    const login = await plane.logIn(acme.admin.username, "correct horse battery", "acme");
    const changed = await plane.as(login.body.access_token)("PATCH", path, { output_cost_per_million_tokens: 3 });
    expect(changed.body).toMatchObject({
      input_cost_per_million_tokens: 0.5,
      output_cost_per_million_tokens: 3,
      price_tiers: [],
      price_changes: [{ effective_from: later, input_cost_per_million_tokens: 9 }],
    });
  });

  test("and price tiers are refused with every wrong field named", async () => {
    const login = await plane.logIn(acme.admin.username, "correct horse battery", "acme");
    const refused = await plane.as(login.body.access_token)("POST", MODELS, {
      name: "wrong",
      provider: "openai",
      price_tiers: [{ above_input_tokens: 0 }, { above_input_tokens: 5, colour: 1 }],
      price_changes: [{ input_cost_per_million_tokens: 0.0000001 }],
    });
    expect(refused.body.fields.map((one: { field: string }) => one.field).sort()).toEqual([
      "price_changes.0.effective_from",
      "price_changes.0.input_cost_per_million_tokens",
      "price_tiers.0.above_input_tokens",
      "price_tiers.1.colour",
    ]);
  });
});
