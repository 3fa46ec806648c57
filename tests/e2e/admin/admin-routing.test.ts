import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { recordModelHealth } from "../../../server/directory/models/models.ts";
import { Snapshots } from "../../../server/directory/snapshots.ts";
import { compileStoredPolicy } from "../../../server/controls/argument-policies/stored-policy.ts";
import { jsonLog } from "../../../server/kernel/log.ts";
import { controlPlane, newTenant, type ControlPlane, type TenantWithAdmin } from "./admin-harness.ts";

const GROUPS = "/v1/admin/llm-router/routing-groups";
const MODELS = "/v1/admin/llms";

let plane: ControlPlane;
let acme: TenantWithAdmin;
let other: TenantWithAdmin;

beforeAll(async () => {
  plane = await controlPlane();
  acme = await newTenant(plane, "acme");
  other = await newTenant(plane, "other");
  for (const tenant of [acme, other])
    await tenant.send("POST", "/v1/admin/providers", { provider_key: "local", api_format: "openai", base_url: "http://10.0.0.9/v1" });
});

afterAll(() => plane.close());

const model = (name: string, more: object = {}, tenant = acme) => tenant.send("POST", MODELS, { name, provider: "local", ...more });

describe("a routing group", () => {
  test("has a virtual model that is bound to resource groups like any model, without granting the members", async () => {
    await acme.send("POST", GROUPS, { id: "bindable", name: "Bindable" });
    const list = (await acme.send("GET", `${MODELS}?mode=routing&search=bindable`)).body;
    const virtual = list.llms[0].id;
    const member = (await model("bindable-member", { routing_group_id: "bindable" })).body.id;
    const team = (await acme.send("POST", "/v1/admin/resource-groups", { name: "binders", group_type: "team" })).body.id;
    const path = `/v1/admin/resource-groups/${team}/llm-models`;
    const bound = await acme.send("POST", path, { model_ids: [virtual] });
    expect([bound.status, bound.body]).toEqual([200, { bound: [virtual], already_bound: [] }]);
    expect((await acme.send("POST", path, { model_ids: [virtual] })).status).toBe(409);
    const { body: both } = await acme.send("POST", path, { model_ids: [virtual, member] });
    expect(both).toEqual({ bound: [member], already_bound: [virtual] });
    const listed = (await acme.send("GET", path)).body.llm_models;
    expect(listed.map(({ name, mode, provider }: Record<string, unknown>) => [name, mode, provider])).toEqual([
      ["Bindable", "routing", "routing"],
      ["bindable-member", "chat", "local"],
    ]);
    expect((await acme.send("PATCH", `${path}/bindable/portal-visibility`, { portal_visible: false })).status).toBe(200);
    expect((await acme.send("GET", `${path}?search=bindable`)).body.llm_models[0].portal_visible).toBe(false);
    const foreign = (await other.send("POST", "/v1/admin/resource-groups", { name: "theirs", group_type: "team" })).body.id;
    expect((await other.send("POST", `/v1/admin/resource-groups/${foreign}/llm-models`, { model_ids: [virtual] })).status).toBe(400);
    const read = await acme.send("GET", `${MODELS}/${virtual}`);
    const { body: routing } = await acme.send("GET", `${MODELS}?mode=routing&search=bindable`);
    expect([read.status, read.body]).toEqual([200, routing.llms[0]]);
    expect((await other.send("GET", `${MODELS}/${virtual}`)).status).toBe(404);
    for (const [method, document, body] of [
      ["PATCH", "limits", { limits: { requests: { daily_limit: 1 } } }],
      ["GET", "limits", undefined],
      ["PATCH", "governance", { governance: { max_tool_calls_per_hour: 3 } }],
    ] as const) {
      const refused = await acme.send(method, `${path}/${virtual}/${document}`, body);
      expect([refused.status, refused.body.fields?.[0]]).toMatchObject([
        400,
        { field: "model_id", message: expect.stringContaining("name one of its members") },
      ]);
    }
    expect((await acme.send("PATCH", `${path}/${member}/limits`, { limits: { requests: { daily_limit: 1 } } })).status).toBe(200);
    expect((await acme.send("DELETE", path, { model_ids: [virtual] })).body).toEqual({ unbound: [virtual], not_bound: [] });
    expect((await acme.send("DELETE", path, { model_ids: [virtual] })).status).toBe(404);
  });

  test("is created with defaults for omitted fields, and changed", async () => {
    const made = await acme.send("POST", GROUPS, { id: "smart" });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      id: "smart",
      name: "smart",
      tenant_id: "acme",
      mode: "chat",
      routing_strategy: "simple-shuffle",
      enabled: true,
      allowed_fails: 3,
      cooldown_time: 30,
      cooldown_window: 60,
      num_retries: 2,
      retry_after: 0,
      timeout: null,
      rpm_limit: null,
      tpm_limit: null,
      max_parallel_requests: null,
      members: [],
    });
    expect((await acme.send("GET", `${GROUPS}/smart`)).body).toEqual(made.body);
    const changed = await acme.send("PATCH", `${GROUPS}/smart`, {
      routing_strategy: "ordered",
      timeout: 1.5,
      rpm_limit: 100,
      description: "the good ones",
    });
    expect(changed.body).toMatchObject({
      routing_strategy: "ordered",
      timeout: 1.5,
      rpm_limit: 100,
      description: "the good ones",
      cooldown_time: 30,
    });
    const [entry] = (await acme.send("GET", "/v1/admin/admin-log")).body.entries;
    expect(entry).toMatchObject({ resource: "routing-groups", resource_id: "smart", action: "update" });
  });

  test("lists the models that name it as members, by descending weight, and cannot be deleted while it has any", async () => {
    await acme.send("POST", GROUPS, { id: "pool" });
    const light = await model("light", { routing_group_id: "pool" });
    const heavy = await model("heavy", { routing_group_id: "pool", routing_weight: 5 });
    const spare = await model("spare", { routing_group_id: "pool", routing_weight: 0, fallback_on: ["context_window"] });
    for (const [given, message] of [
      [["always"], /fallback_on\.0: /],
      [["failure", "failure"], /fallback_on: must name each condition once/],
    ] as const) {
      const wrong = await acme.send("PATCH", `${MODELS}/${light.body.id}`, { fallback_on: given });
      expect([wrong.status, wrong.body.detail]).toEqual([400, expect.stringMatching(message)]);
    }
    expect([light.body.routing_group_id, light.body.routing_weight, spare.body.routing_weight]).toEqual(["pool", 1, 0]);
    const read = await acme.send("GET", `${GROUPS}/pool`);
    expect(read.body.members).toEqual([
      { model_id: heavy.body.id, name: "heavy", routing_weight: 5, fallback_on: ["failure"] },
      { model_id: light.body.id, name: "light", routing_weight: 1, fallback_on: ["failure"] },
      { model_id: spare.body.id, name: "spare", routing_weight: 0, fallback_on: ["context_window"] },
    ]);
    const refused = await acme.send("DELETE", `${GROUPS}/pool`);
    expect([refused.status, refused.body.code]).toEqual([409, "in_use"]);
    expect(refused.body.detail).toContain("heavy, light, spare");
    for (const one of [light, heavy, spare]) await acme.send("PATCH", `${MODELS}/${one.body.id}`, { routing_group_id: null });
    expect((await acme.send("DELETE", `${GROUPS}/pool`)).status).toBe(204);
    expect((await acme.send("GET", `${GROUPS}/pool`)).status).toBe(404);
  });

  test("accepts only models that serve its mode, and keeps a mode that its members serve", async () => {
    await acme.send("POST", GROUPS, { id: "vectors", mode: "embedding" });
    const chat = await model("talks", { routing_group_id: "vectors" });
    expect([chat.status, chat.body.fields[0].field]).toEqual([400, "routing_group_id"]);
    const embedder = await model("embeds", { mode: "embedding", routing_group_id: "vectors" });
    expect(embedder.status).toBe(201);
    const turned = await acme.send("PATCH", `${GROUPS}/vectors`, { mode: "chat" });
    expect([turned.status, turned.body.fields[0].field]).toEqual([400, "mode"]);
    const left = await acme.send("PATCH", `${MODELS}/${embedder.body.id}`, { modes: ["chat"] });
    expect([left.status, left.body.fields[0].field]).toEqual([400, "routing_group_id"]);
    const nowhere = await model("lost", { routing_group_id: "nowhere" });
    expect([nowhere.status, nowhere.body.fields[0].field]).toEqual([400, "routing_group_id"]);
  });

  test("shares no name with a model or another group", async () => {
    const named = await model("taken");
    for (const body of [{ id: "taken" }, { id: "free", name: "taken" }]) {
      const refused = await acme.send("POST", GROUPS, body);
      expect([refused.status, refused.body.code, refused.body.existing_id]).toEqual([409, "conflict", named.body.id]);
    }
    await acme.send("POST", GROUPS, { id: "fast", name: "Fast models" });
    for (const name of ["fast", "Fast models"]) {
      const refused = await model(name);
      expect([refused.status, refused.body.existing_id]).toEqual([409, "fast"]);
    }
    expect((await acme.send("PATCH", `${MODELS}/${named.body.id}`, { name: "fast" })).status).toBe(409);
    for (const body of [{ id: "fast" }, { id: "faster", name: "fast" }, { id: "faster", name: "Fast models" }]) {
      const refused = await acme.send("POST", GROUPS, body);
      expect([refused.status, refused.body.existing_id]).toEqual([409, "fast"]);
    }
    expect((await acme.send("PATCH", `${GROUPS}/fast`, { name: "fast" })).status).toBe(200);
  });

  test("and a model created concurrently with one name leave one of the two", async () => {
    const replies = await Promise.all([
      acme.send("POST", GROUPS, { id: "raced" }),
      model("raced"),
      acme.send("POST", GROUPS, { id: "raced" }),
      model("raced"),
    ]);
    expect(replies.map((reply) => reply.status).sort()).toEqual([201, 409, 409, 409]);
  });

  test("belongs to its tenant; another tenant may use the same ID", async () => {
    await acme.send("POST", GROUPS, { id: "same", description: "of acme" });
    await other.send("POST", GROUPS, { id: "same", description: "of other" });
    await acme.send("PATCH", `${GROUPS}/same`, { enabled: false });
    expect((await other.send("GET", `${GROUPS}/same`)).body).toMatchObject({ description: "of other", enabled: true });
    await acme.send("DELETE", `${GROUPS}/same`);
    expect((await other.send("GET", `${GROUPS}/same`)).status).toBe(200);
    expect((await plane.system("GET", `${GROUPS}/same?tenant_id=other`)).body.tenant_id).toBe("other");
    await other.send("POST", GROUPS, { id: "mine" });
    expect((await acme.send("GET", `${GROUPS}/mine`)).status).toBe(404);
    expect((await model("stranger", { routing_group_id: "mine" })).status).toBe(400);
  });

  test("is refused with each wrong field named", async () => {
    const refused = await acme.send("POST", GROUPS, {
      id: "Not A Slug",
      routing_strategy: "luck",
      allowed_fails: -1,
      timeout: 0,
      colour: "red",
    });
    expect(refused.status).toBe(400);
    expect(refused.body.fields.map((one: { field: string }) => one.field).sort()).toEqual([
      "allowed_fails",
      "colour",
      "id",
      "routing_strategy",
      "timeout",
    ]);
    const renamed = await acme.send("PATCH", `${GROUPS}/smart`, { id: "other" });
    expect([renamed.status, renamed.body.fields[0].field]).toEqual([422, "id"]);
  });
});

describe("lists of routing groups and models", () => {
  test("filter disabled groups, and show routing groups as virtual models", async () => {
    const mine = await newTenant(plane, "lister");
    await mine.send("POST", "/v1/admin/providers", { provider_key: "local", api_format: "openai", base_url: "http://10.0.0.9/v1" });
    await mine.send("POST", GROUPS, { id: "off", enabled: false });
    await mine.send("POST", GROUPS, { id: "on", rpm_limit: 9 });
    await model("a", { routing_group_id: "on", context_window: 8_000, supports_vision: true }, mine);
    await model("b", { routing_group_id: "on", context_window: 4_000 }, mine);
    const ids = (reply: { body: { routing_groups: { id: string }[] } }) => reply.body.routing_groups.map((group) => group.id);
    expect(ids(await mine.send("GET", GROUPS))).toEqual(["off", "on"]);
    expect(ids(await mine.send("GET", `${GROUPS}?enabled_only=true`))).toEqual(["on"]);
    expect(ids(await mine.send("GET", `${GROUPS}?search=OF`))).toEqual(["off"]);

    const virtual = await mine.send("GET", `${MODELS}?mode=routing`);
    expect(virtual.body.llms.map((one: { name: string }) => one.name)).toEqual(["off", "on"]);
    expect(virtual.body.llms[1]).toMatchObject({
      mode: "routing",
      modes: ["chat"],
      provider: "routing",
      routing_group_id: "on",
      context_window: 4_000,
      supports_vision: false,
      supports_tools: true,
      rate_limit_rpm: 9,
      input_cost_per_million_tokens: null,
    });
    expect((await mine.send("GET", `${MODELS}?mode=chat`)).body.llms.map((one: { name: string }) => one.name)).toEqual(["a", "b"]);
  });
});

describe("the compiled snapshot", () => {
  test("has the routing groups, their members, and the settings and prices of each model", async () => {
    const mine = await newTenant(plane, "compiled");
    await plane.system("PATCH", "/v1/admin/tenants/compiled", { allowed_regions: ["eu"] });
    await mine.send("POST", "/v1/admin/providers", { provider_key: "local", api_format: "openai", base_url: "http://10.0.0.9/v1" });
    await mine.send("POST", GROUPS, {
      id: "eu-chat",
      name: "EU chat",
      routing_strategy: "least-busy",
      timeout: 0.5,
      cooldown_time: 0.2,
      num_retries: 0,
      max_parallel_requests: 4,
    });
    const made = await model(
      "m",
      {
        routing_group_id: "eu-chat",
        routing_weight: 3,
        residency_region: "eu",
        rate_limit_rpm: 60,
        rate_limit_tpm: 1_000,
        max_concurrent_requests: 2,
        supports_vision: true,
        input_cost_per_million_tokens: 2,
        output_cost_per_million_tokens: 8,
        price_tiers: [{ above_input_tokens: 1_000, output_cost_per_million_tokens: 12 }],
        price_changes: [{ effective_from: "2099-01-01T00:00:00Z", input_cost_per_million_tokens: 3 }],
        service_tier_prices: [{ service_tier: "priority", price_factor: 2, input_cost_per_million_tokens: 5 }],
        image_cost: 0.04,
        audio_input_cost_per_second: 0.0001,
        audio_output_cost_per_million_characters: 15,
        video_cost_per_second: 0.5,
        supported_video_durations: [4, 8],
      },
      mine,
    );
    expect(made.body).toMatchObject({
      image_cost: 0.04,
      audio_input_cost_per_second: 0.0001,
      audio_output_cost_per_million_characters: 15,
      video_cost_per_second: 0.5,
      supported_video_durations: [4, 8],
    });
    await recordModelHealth(plane.directory, "compiled", made.body.id, false);
    const tenant = await new Snapshots(plane.directory.db, plane.directory.secrets, compileStoredPolicy, jsonLog("error")).tenant(
      "compiled",
    );
    if (tenant === null) throw new Error("there is no snapshot");
    expect(tenant.allowedRegions).toEqual(new Set(["eu"]));
    const group = tenant.routingGroups.get("eu-chat");
    expect(group).toBe(tenant.routingGroupsByName.get("EU chat") as typeof group);
    expect(group).toBe(tenant.routingGroupsByModelId.get(group?.modelId ?? "") as typeof group);
    expect(group).toMatchObject({
      strategy: "least-busy",
      timeoutSeconds: 0.5,
      cooldownSeconds: 0.2,
      cooldownWindowSeconds: 60,
      retries: 0,
      retryAfterSeconds: 0,
      allowedFails: 3,
      maxParallel: 4,
      rpmLimit: null,
    });
    const entry = tenant.models.get(made.body.id);
    expect(group?.members).toEqual([{ model: entry as NonNullable<typeof entry>, weight: 3, fallbackOn: ["failure"] }]);
    expect(entry).toMatchObject({
      rateLimitRpm: 60,
      rateLimitTpm: 1_000,
      maxConcurrent: 2,
      supportsVision: true,
      supportsTools: true,
      isHealthy: false,
      provider: { region: "eu" },
    });
    const plain = {
      input: 2_000_000,
      output: 8_000_000,
      cacheRead: null,
      cacheWrite: null,
      cacheWriteHour: null,
      audioInput: null,
      audioOutput: null,
      webSearch: null,
      searchUnit: null,
      image: 40_000_000_000,
      spokenCharacter: 15_000_000,
      audioSecond: 100_000_000,
      videoSecond: 500_000_000_000,
      imageInput: null,
      imageOutput: null,
      imageCacheRead: null,
      imagePrices: [],
      videoOutput: null,
      videoPrices: [],
    };
    const dearer = { ...plain, input: 5_000_000 };
    const priority = {
      ...{ name: "priority", factor: 2, prices: { ...dearer, output: 16_000_000 } },
      tiers: [{ aboveInputTokens: 1_000, prices: { ...plain, input: 5_000_000, output: 24_000_000 } }],
    };
    expect(
      entry?.priceSchedule.map((dated) => ({
        ...dated,
        serviceTiers: dated.serviceTiers?.filter(({ name, factor }) => name === "priority" && factor === 2),
      })),
    ).toEqual([
      {
        ...{ from: Number.NEGATIVE_INFINITY, prices: plain },
        ...{ tiers: [{ aboveInputTokens: 1_000, prices: { ...plain, output: 12_000_000 } }], serviceTiers: [priority] },
      },
      { from: Date.parse("2099-01-01"), prices: { ...plain, input: 3_000_000, output: null }, tiers: [], serviceTiers: [] },
    ]);
  });
});

describe("the result of a model's health probe", () => {
  test("is shown on the model and announced once, without changing its configuration", async () => {
    const made = await model("probed");
    expect([made.body.is_healthy, made.body.health_checked_at]).toEqual([null, null]);
    const version = async () => (await plane.database.db.selectFrom("config_version").select("version").executeTakeFirstOrThrow()).version;
    const before = await version();
    await recordModelHealth(plane.directory, "acme", made.body.id, true);
    await recordModelHealth(plane.directory, "acme", made.body.id, true);
    expect(await version()).toBe(before + 1);
    const read = (await acme.send("GET", `${MODELS}/${made.body.id}`)).body;
    expect([read.is_healthy, read.updated_at]).toEqual([true, made.body.updated_at]);
    expect(Date.parse(read.health_checked_at)).toBeGreaterThan(0);
    await recordModelHealth(plane.directory, "other", made.body.id, false);
    expect((await acme.send("GET", `${MODELS}/${made.body.id}`)).body.is_healthy).toBe(true);
  });

  test("is cleared when the model's address, key or upstream name changes, and only then", async () => {
    const made = await model("probed-again");
    const path = `${MODELS}/${made.body.id}`;
    const provider = `/v1/admin/providers/${made.body.provider_id}`;
    const read = async () => (await acme.send("GET", path)).body;
    const former = await read();
    for (const [at, change, left] of [
      [path, { description: "x" }, false],
      [path, { base_url: former.base_url, model_name: former.model_name, provider: former.provider }, false],
      [path, { model_name: "another" }, null],
      [path, { api_key: "another-key" }, null],
      [path, { base_url: "https://elsewhere.example/v1", api_key: "third-key" }, null],
      [path, { base_url: null, api_key: null }, null],
      [provider, { name: "x" }, false],
      [provider, { api_key: "key-of-all" }, null],
    ] as const) {
      await recordModelHealth(plane.directory, "acme", made.body.id, false);
      const changed = await acme.send("PATCH", at, change);
      expect([change, changed.status === 200 || changed.body, (await read()).is_healthy]).toEqual([change, true, left]);
    }
  });
});
