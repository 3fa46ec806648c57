import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { probedModels } from "../../../server/directory/models/probed-models.ts";
import { controlPlane, newTenant, type ControlPlane, type TenantWithAdmin } from "./admin-harness.ts";

let plane: ControlPlane;
let acme: TenantWithAdmin;

beforeAll(async () => {
  plane = await controlPlane();
  acme = await newTenant(plane, "acme");
});
afterAll(() => plane.close());

async function entries(filter: string) {
  return (await plane.system("GET", `/v1/admin/admin-log?${filter}`)).body.entries;
}

describe("tenants", () => {
  test("are created, listed, read, changed, replaced as read, counted and deleted", async () => {
    const made = await plane.system("POST", "/v1/admin/tenants", { name: "Blue Sky & Sons" });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      id: "blue-sky-sons",
      enabled: true,
      data_retention: { store_bodies: "redacted", body_days: 30, log_days: 400, run_days: 400 },
    });
    const again = await plane.system("POST", "/v1/admin/tenants", { name: "Blue Sky & Sons" });
    expect([again.status, again.body.code, again.body.existing_id]).toEqual([409, "conflict", "blue-sky-sons"]);
    const found = await plane.system("GET", "/v1/admin/tenants?search=sky");
    expect([found.body.total, found.body.tenants[0].id]).toEqual([1, "blue-sky-sons"]);

    const path = "/v1/admin/tenants/blue-sky-sons";
    const kept = await plane.system("PUT", path, { data_retention: { store_bodies: "none" } });
    expect(kept.body.data_retention).toEqual({ store_bodies: "none", body_days: 30, log_days: 400, run_days: 400, file_days: 30 });
    const read = (await plane.system("GET", path)).body;
    const back = await plane.system("PUT", path, { ...read, display_name: "Blue Sky" });
    expect([back.status, back.body.display_name]).toEqual([200, "Blue Sky"]);
    expect((await plane.system("GET", `${path}/stats`)).body).toMatchObject({
      tenant_id: "blue-sky-sons",
      models: 0,
      last_30_days: { requests: 0, cost_usd: 0 },
    });
    expect((await plane.system("DELETE", path)).status).toBe(204);
    expect((await plane.system("GET", path)).status).toBe(404);
  });

  test("cannot be deleted while they have records; the 409 says which", async () => {
    const refused = await plane.system("DELETE", "/v1/admin/tenants/acme");
    expect([refused.status, refused.body.code]).toEqual([409, "in_use"]);
    expect(refused.body.detail).toContain("1 admin user");
  });
});

describe("providers and models", () => {
  test("a provider's API key is stored encrypted, never returned, and masked in the admin log", async () => {
    const secret = "sk-upstream-0123456789-TAIL";
    const made = await acme.send("POST", "/v1/admin/providers", {
      provider_key: "vendor",
      api_format: "openai",
      base_url: "https://api.vendor.test/v1",
      api_key: secret,
    });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ has_api_key: true, api_key_hint: "TAIL", base_url: "https://api.vendor.test/v1", name: "vendor" });
    expect(JSON.stringify(made.body)).not.toContain(secret);
    const again = await acme.send("POST", "/v1/admin/providers", { provider_key: "vendor", api_format: "openai" });
    expect([again.status, again.body.existing_id]).toEqual([409, made.body.id]);

    const changed = await acme.send("PATCH", `/v1/admin/providers/${made.body.id}`, { api_key: `${secret}-2`, region: "eu" });
    expect(changed.body).toMatchObject({ region: "eu", api_key_hint: "IL-2" });
    const log = await entries(`resource_id=${made.body.id}`);
    expect(log.map((entry: { action: string }) => entry.action)).toEqual(["update", "create"]);
    expect(log[0]).toMatchObject({
      actor_username: "owner-of-acme",
      actor_role: "owner",
      tenant_id: "acme",
      before: { region: null },
      after: { region: "eu", api_key: "***" },
      client_ip: "10.0.0.1",
    });
    expect(JSON.stringify(log)).not.toContain("sk-upstream");
    const stored = await plane.database.db.selectFrom("providers").selectAll().where("id", "=", made.body.id).executeTakeFirstOrThrow();
    expect(JSON.stringify(stored)).not.toContain("sk-upstream");
  });

  test("a service account's key file is accepted as JSON, text or base64, for Vertex only", async () => {
    const file = {
      type: "service_account",
      project_id: "p",
      private_key_id: "0123456789abcdef",
      client_email: "robot@p.iam.gserviceaccount.com",
      private_key: "-----BEGIN PRIVATE KEY-----\nsecret\n-----END PRIVATE KEY-----\n",
    };
    const vertex = { api_format: "vertex", base_url: "https://aiplatform.googleapis.com" };
    for (const [provider_key, api_key] of Object.entries({ "as-json": file, "as-text": JSON.stringify(file, null, 2) })) {
      const made = await acme.send("POST", "/v1/admin/providers", { provider_key, ...vertex, api_key });
      expect([made.status, made.body.api_key_hint]).toEqual([201, "cdef"]);
      expect(JSON.stringify((await entries(`resource_id=${made.body.id}`))[0])).not.toContain("secret");
    }
    expect(
      (await acme.send("POST", "/v1/admin/providers", { provider_key: "as-base64", ...vertex, api_key: btoa(JSON.stringify(file)) }))
        .status,
    ).toBe(201);
    const elsewhere = await acme.send("POST", "/v1/admin/providers", { provider_key: "elsewhere", api_format: "openai", api_key: file });
    expect([elsewhere.status, elsewhere.body.fields[0].field]).toEqual([400, "api_key"]);
    const half = await acme.send("POST", "/v1/admin/providers", { provider_key: "half", ...vertex, api_key: { client_email: "robot@p" } });
    expect([half.status, half.body.fields[0].field]).toEqual([400, "api_key"]);
  });

  test("base_url accepts Azure's api-version in its query and nothing else", async () => {
    const base_url = "https://r.openai.azure.com/openai/deployments/gpt?api-version=2024-06-01";
    const made = await acme.send("POST", "/v1/admin/providers", { provider_key: "azure-dated", api_format: "azure_openai", base_url });
    expect([made.status, made.body.base_url]).toEqual([201, base_url]);
    const onModel = await acme.send("POST", "/v1/admin/llms", {
      name: "azure-dated",
      provider: "azure-dated",
      base_url: base_url.replace("/gpt?", "/other?"),
    });
    expect(onModel.status).toBe(201);
    for (const [api_format, address] of [
      ["azure_openai", `${base_url}&key=x`],
      ["azure_openai", "https://r.openai.azure.com?key=x"],
      ["openai", "https://api.vendor.test/v1?api-version=1"],
    ]) {
      const refused = await acme.send("POST", "/v1/admin/providers", { provider_key: "other-azure", api_format, base_url: address });
      expect([refused.status, refused.body.fields[0].field]).toEqual([400, "base_url"]);
    }
  });

  test("a stored API key is not reused when its provider or model moves to another host", async () => {
    const made = await acme.send("POST", "/v1/admin/providers", {
      provider_key: "guarded",
      api_format: "openai",
      base_url: "https://good.test/v1",
      api_key: "k".repeat(20),
    });
    const path = `/v1/admin/providers/${made.body.id}`;
    const moved = await acme.send("PATCH", path, { base_url: "https://evil.test/v1" });
    expect([moved.status, moved.body.fields[0].field]).toEqual([400, "api_key"]);
    expect((await acme.send("PATCH", path, { base_url: "https://good.test/v2" })).status).toBe(200);
    const model = await acme.send("POST", "/v1/admin/llms", { name: "leak", provider: "guarded", base_url: "https://evil.test/v1" });
    expect([model.status, model.body.fields[0].field]).toEqual([400, "api_key"]);
    const own = await acme.send("POST", "/v1/admin/llms", {
      name: "own",
      provider: "guarded",
      base_url: "https://other.test/v1",
      api_key: "o".repeat(20),
    });
    expect(own.status).toBe(201);
    const redirected = await acme.send("PATCH", `/v1/admin/llms/${own.body.id}`, { base_url: "https://evil.test/v1" });
    expect([redirected.status, redirected.body.fields[0].field]).toEqual([400, "api_key"]);
    const fallsBack = await acme.send("PATCH", `/v1/admin/llms/${own.body.id}`, { api_key: null });
    expect([fallsBack.status, fallsBack.body.fields[0].field]).toEqual([400, "api_key"]);
  });

  test("an API key added to a provider later is not used for models on another host", async () => {
    const provider = (
      await acme.send("POST", "/v1/admin/providers", {
        provider_key: "keyed-later",
        api_format: "openai",
        base_url: "https://good.test/v1",
      })
    ).body;
    const model = async (name: string, base_url?: string) =>
      (await acme.send("POST", "/v1/admin/llms", { name, provider: "keyed-later", ...(base_url === undefined ? {} : { base_url }) })).body
        .id;
    const [follows, near, far] = [
      await model("follows"),
      await model("near", "https://good.test/v2"),
      await model("far", "https://evil.test/v1"),
    ];
    const keys = async () => {
      const models = await probedModels(plane.directory, "acme");
      return [follows, near, far].map((id) => models.get(id)?.provider.apiKey);
    };
    expect((await acme.send("PATCH", `/v1/admin/providers/${provider.id}`, { api_key: "k".repeat(20) })).status).toBe(200);
    expect(await keys()).toEqual(["k".repeat(20), "k".repeat(20), null]);
    expect(
      (await acme.send("PATCH", `/v1/admin/providers/${provider.id}`, { base_url: "https://better.test/v1", api_key: "b".repeat(20) }))
        .status,
    ).toBe(200);
    expect(await keys()).toEqual(["b".repeat(20), null, null]);
  });

  test("credentials in headers or base_url are refused, since those are stored unencrypted", async () => {
    const header = await acme.send("POST", "/v1/admin/providers", {
      provider_key: "h",
      api_format: "openai",
      headers: { "X-Api-Key": "v" },
    });
    expect([header.status, header.body.fields[0].field]).toEqual([400, "headers.X-Api-Key"]);
    const address = await acme.send("POST", "/v1/admin/providers", {
      provider_key: "h",
      api_format: "openai",
      base_url: "https://user:pass@x.test",
    });
    expect([address.status, address.body.fields[0].field]).toEqual([400, "base_url"]);
  });

  test("a model reads back its prices in dollars; an unset price is null, not zero", async () => {
    await acme.send("POST", "/v1/admin/providers", { provider_key: "priced", api_format: "openai" });
    const made = await acme.send("POST", "/v1/admin/llms", {
      name: "gpt",
      provider: "priced",
      modes: ["responses", "chat"],
      mode: "chat",
      input_cost_per_million_tokens: 0.15,
      output_cost_per_million_tokens: 0,
    });
    expect(made.body).toMatchObject({
      mode: "chat",
      modes: ["chat", "responses"],
      model_name: "gpt",
      input_cost_per_million_tokens: 0.15,
      output_cost_per_million_tokens: 0,
      cache_read_cost_per_million_tokens: null,
    });
    const row = await plane.database.db.selectFrom("models").selectAll().where("id", "=", made.body.id).executeTakeFirstOrThrow();
    expect([row.input_cost, row.output_cost, row.cache_read_cost]).toEqual([150_000, 0, null]);
    expect((await acme.send("GET", "/v1/admin/llms?mode=responses&provider_key=priced")).body.total).toBe(1);
    expect((await acme.send("GET", "/v1/admin/llms?mode=embedding")).body.total).toBe(0);
    const stranger = await acme.send("POST", "/v1/admin/llms", { name: "x", provider: "nobody" });
    expect([stranger.status, stranger.body.fields[0].field]).toEqual([400, "provider"]);
    const provider = (await acme.send("GET", "/v1/admin/providers?provider_key=priced")).body.providers[0];
    const refused = await acme.send("DELETE", `/v1/admin/providers/${provider.id}`);
    expect([refused.status, refused.body.code]).toEqual([409, "in_use"]);
    expect(refused.body.detail).toContain("gpt");
    expect((await acme.send("DELETE", `/v1/admin/llms/${made.body.id}`)).status).toBe(204);
    expect((await acme.send("DELETE", `/v1/admin/providers/${provider.id}`)).status).toBe(204);
  });

  test("concurrent creates of a provider with one key create one record", async () => {
    const replies = await Promise.all(
      Array.from({ length: 6 }, () => acme.send("POST", "/v1/admin/providers", { provider_key: "raced", api_format: "echo" })),
    );
    expect(replies.map((reply) => reply.status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
    const made = replies.find((reply) => reply.status === 201)?.body.id;
    for (const reply of replies) if (reply.status === 409) expect([reply.body.code, reply.body.existing_id]).toEqual(["conflict", made]);
  });

  test("a change is announced in its own transaction, and a refused change is not", async () => {
    const versionNow = async () =>
      (await plane.database.db.selectFrom("config_version").select("version").executeTakeFirstOrThrow()).version;
    const before = await versionNow();
    const made = await acme.send("POST", "/v1/admin/providers", { provider_key: "announced", api_format: "echo" });
    expect(await versionNow()).toBe(before + 1);
    await acme.send("POST", "/v1/admin/providers", { provider_key: "announced", api_format: "echo" });
    await acme.send("POST", "/v1/admin/llms", { name: "half", provider: "announced", group_ids: [made.body.id] });
    expect(await versionNow()).toBe(before + 1);
    expect((await acme.send("GET", "/v1/admin/llms?search=half")).body.total).toBe(0);
    const change = await plane.database.db.selectFrom("config_changes").selectAll().orderBy("version", "desc").executeTakeFirstOrThrow();
    expect(change).toMatchObject({ tenant_id: "acme", topic: "policy" });
  });
});

describe("lists", () => {
  test("refuse unknown query parameters with 400, as the OpenAPI document says for every route", async () => {
    const { paths } = (await plane.send("GET", "/openapi.json")).body;
    for (const path of ["/v1/admin/audit/chains", "/v1/admin/standards", "/v1/admin-users/me", "/v1/admin/llms"]) {
      const reply = await plane.system("GET", `${path}?strange=1`);
      expect([path, reply.status, reply.body.code]).toEqual([path, 400, "invalid_query"]);
      expect([path, paths[path].get.responses["400"]?.description]).toEqual([path, expect.stringContaining("`invalid_query`")]);
    }
  });

  test("are paged by page or by offset, with a maximum page size", async () => {
    const beta = await newTenant(plane, "beta");
    for (const name of ["a", "b", "c", "d_d", "dxd"]) await beta.send("POST", "/v1/admin/resource-groups", { name });
    const names = (reply: { body: { resource_groups: { name: string }[] } }) => reply.body.resource_groups.map((group) => group.name);
    const second = await beta.send("GET", "/v1/admin/resource-groups?page=2&page_size=2");
    expect([names(second), second.body.total, second.body.page, second.body.page_size]).toEqual([["c", "d_d"], 5, 2, 2]);
    expect(names(await beta.send("GET", "/v1/admin/resource-groups?limit=3&offset=3"))).toEqual(["d_d", "dxd"]);
    expect(names(await beta.send("GET", "/v1/admin/resource-groups?search=D_"))).toEqual(["d_d"]);
    for (const query of ["page_size=201", "page=0", "limit=201", "page=1&limit=2", "colour=red", "search=a&search=b"]) {
      const refused = await beta.send("GET", `/v1/admin/resource-groups?${query}`);
      expect([query, refused.status, refused.body.code, refused.body.fields.length]).toEqual([query, 400, "invalid_query", 1]);
    }
  });
});

describe("the tenant of a system administrator's request", () => {
  test("is the one named in query, body or header, else that of the record, else default", async () => {
    const made = await plane.system("POST", "/v1/admin/providers", { tenant_id: "acme", provider_key: "named", api_format: "echo" });
    expect(made.body.tenant_id).toBe("acme");
    expect((await plane.system("GET", `/v1/admin/providers/${made.body.id}`)).body.tenant_id).toBe("acme");
    expect((await plane.system("GET", `/v1/admin/providers/${made.body.id}?tenant_id=default`)).status).toBe(404);
    expect((await plane.system("GET", "/v1/admin/providers?provider_key=named", undefined, { "x-tenant-id": "acme" })).body.total).toBe(1);
    expect((await plane.system("POST", "/v1/admin/providers", { provider_key: "unnamed", api_format: "echo" })).body.tenant_id).toBe(
      "default",
    );
    expect((await plane.system("GET", "/v1/admin/providers?tenant_id=nowhere")).status).toBe(404);
    expect((await plane.system("GET", "/v1/admin/providers?tenant_id=acme", undefined, { "x-tenant-id": "default" })).status).toBe(400);
  });
});
