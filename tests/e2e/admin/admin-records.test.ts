import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { z } from "zod";
import type { AdminOperation } from "../../../server/surfaces/admin/operation.ts";
import { recordRoutes } from "../../../server/surfaces/admin/record-route.ts";
import { OPERATIONS } from "../../../server/surfaces/admin/routes.ts";
import { controlPlane, newTenant, type ControlPlane, type Reply, type Send } from "./admin-harness.ts";

/** For each kind of record: how to create one, and two bodies that each change it. A new kind without an entry fails here. */
interface Kind {
  readonly made: () => Promise<{ path: string; reply?: Reply }>;
  readonly changes: readonly [object, object];
}

let plane: ControlPlane;
let owner: Send;
let group = "";
let provider = "";

async function post(path: string, body: object, at = path): Promise<{ path: string; reply: Reply }> {
  const reply = await (path === "/v1/admin/tenants" ? plane.system : owner)("POST", path, body);
  expect([path, reply.status, reply.body]).toMatchObject([path, 201, {}]);
  return { path: `${at}/${reply.body.id ?? reply.body.user.id}`, reply };
}

const posted = (path: string, body: object, first: object, second: object): Kind => ({
  made: () => post(path, body),
  changes: [first, second],
});
const described = (path: string, body: object) => posted(path, body, { description: "one" }, { description: "two" });
const named = (path: string, body: object) => posted(path, body, { display_name: "one" }, { display_name: "two" });

async function ofGroup(last: string): Promise<{ path: string }> {
  const { path } = await post("/v1/admin/resource-groups", { name: crypto.randomUUID() });
  return { path: `${path}/${last}` };
}

async function model(): Promise<string> {
  return (await post("/v1/admin/llms", { name: crypto.randomUUID(), provider })).reply.body.id;
}

async function server(): Promise<string> {
  const url = `http://${crypto.randomUUID()}.example`;
  return (await post("/v1/admin/mcp-servers", { name: "of a kind", base_url: url })).reply.body.id;
}

async function skill(): Promise<string> {
  const content = `---\nname: of-a-kind-${crypto.randomUUID()}\ndescription: d\n---\n`;
  return (await owner("POST", "/v1/admin/agent-skills/import", { files: [{ path: "SKILL.md", content }] })).body.skill.id;
}

async function agent(): Promise<string> {
  const body = { card_name: crypto.randomUUID(), name: "of a kind", base_url: "http://kind.example" };
  return (await post("/v1/admin/agents", body)).reply.body.id;
}

const document = (last: string | (() => Promise<string>), member: string, first: object, second: object): Kind => ({
  made: async () => ofGroup(typeof last === "string" ? last : await last()),
  changes: [{ [member]: first }, { [member]: second }],
});
const quota = (daily: number) => ({ requests: { daily_limit: daily } });
const callsPerMinute = (calls: number) => ({ frequency: { max_calls_per_minute: calls } });
const statements = (controller: string) => ({
  ...{ controller, data_protection_officer: null, purposes: null, data_subjects: null, personal_data: null },
});
const maxTemperature = (max: number) => ({ temperature: { max } });

const GROUP = "/v1/admin/resource-groups/{id}";
const KINDS: Record<string, Kind> = {
  "/v1/admin/tenants/{id}": named("/v1/admin/tenants", { id: "of-a-kind", name: "of a kind" }),
  "/v1/admin/admin-users/{id}": named("/v1/admin/admin-users", { username: "of-a-kind", password: "long enough" }),
  "/v1/admin/end-users/{id}": named("/v1/admin/end-users", { username: "of-a-kind", password: "long enough", metadata: { a: [1] } }),
  "/v1/admin/end-user-groups/{id}": described("/v1/admin/end-user-groups", { name: "of a kind" }),
  "/v1/admin/providers/{id}": posted(
    "/v1/admin/providers",
    {
      provider_key: "of-a-kind",
      api_format: "openai",
      base_url: "http://kind.example/v1",
      api_key: "a-key-of-a-kind",
      headers: { a: "b" },
    },
    { name: "one" },
    { name: "two" },
  ),
  "/v1/admin/llms/{id}": {
    made: () => post("/v1/admin/llms", { name: "of-a-kind", provider, api_key: "a-key-of-a-kind", group_ids: [group] }),
    changes: [{ description: "one" }, { description: "two" }],
  },
  "/v1/admin/llm-router/routing-groups/{id}": described("/v1/admin/llm-router/routing-groups", { id: "of-a-kind" }),
  "/v1/admin/resource-groups/{id}": described("/v1/admin/resource-groups", { name: "of a kind" }),
  "/v1/admin/mcp-servers/{id}": described("/v1/admin/mcp-servers", { name: "of a kind", base_url: "http://kind.example" }),
  "/v1/admin/mcp-servers/{id}/oauth-client": {
    async made() {
      const path = `/v1/admin/mcp-servers/${await server()}/oauth-client`;
      await owner("PUT", path, { issuer: "https://issuer.example", client_id: "c", client_secret: "s", scopes: ["a"] });
      return { path };
    },
    changes: [
      { issuer: "https://issuer.example", client_id: "d" },
      { issuer: "https://issuer.example", client_id: "e" },
    ],
  },
  "/v1/admin/server-configs/{id}": {
    made: async () => post("/v1/admin/server-configs", { name: "of a kind", mcp_server_id: await server(), group_ids: [group] }),
    changes: [{ description: "one" }, { description: "two" }],
  },
  "/v1/admin/virtual-servers/{id}": {
    made: async () => post("/v1/admin/virtual-servers", { name: "of a kind", mcp_server_ids: [await server()] }),
    changes: [{ description: "one" }, { description: "two" }],
  },
  "/v1/admin/agents/{id}": described("/v1/admin/agents", {
    card_name: "of-a-kind",
    name: "of a kind",
    base_url: "http://kind.example",
    auth_type: "bearer",
    credentials: { value: "a-token-of-a-kind" },
  }),
  "/v1/admin/agent-grants/{id}": {
    made: async () => post("/v1/admin/agent-grants", { agent_id: await agent(), group_ids: [group] }),
    changes: [{ max_depth: 1 }, { max_depth: 2 }],
  },
  "/v1/admin/agent-skills/{id}": {
    made: async () => ({ path: `/v1/admin/agent-skills/${await skill()}` }),
    changes: [{ approval_required_scripts: ["*"] }, { approval_required_scripts: ["scripts/a.py"] }],
  },
  "/v1/admin/ai-systems/{id}": {
    async made() {
      const { body } = await owner("POST", "/v1/admin/resource-groups", { name: `system ${crypto.randomUUID()}` });
      return post("/v1/admin/ai-systems", { group_id: body.id });
    },
    changes: [{ purpose: "one" }, { purpose: "two" }],
  },
  "/v1/admin/response-policies/{id}": posted(
    "/v1/admin/response-policies",
    { name: "of a kind", finding_kinds: ["tool_drift"], action: "suspend" },
    { name: "one", finding_kinds: ["tool_drift"], action: "suspend" },
    { name: "two", finding_kinds: ["tool_drift"], action: "suspend" },
  ),
  "/v1/admin/incident-windows/{id}": posted(
    "/v1/admin/incident-windows",
    { title: "of a kind", severity: "sev1", started_at: "2026-01-01T00:00:00Z" },
    { reason: "one" },
    { reason: "two" },
  ),
  "/v1/admin/ai-systems/{id}/envelope": {
    async made() {
      const { body } = await owner("POST", "/v1/admin/resource-groups", { name: `system ${crypto.randomUUID()}` });
      await owner("POST", "/v1/admin/ai-systems", { group_id: body.id });
      await owner("PUT", `/v1/admin/ai-systems/${body.id}/envelope`, { max_llm_calls_per_run: 9 });
      return { path: `/v1/admin/ai-systems/${body.id}/envelope` };
    },
    changes: [{ max_llm_calls_per_run: 8 }, { autonomy_level: "restricted" }],
  },
  "/v1/admin/ai-systems/{id}/evidence/{eid}": {
    async made() {
      const { body } = await owner("POST", "/v1/admin/resource-groups", { name: `system ${crypto.randomUUID()}` });
      await owner("POST", "/v1/admin/ai-systems", { group_id: body.id });
      return post(`/v1/admin/ai-systems/${body.id}/evidence`, {
        kind: "test_report",
        uri: "https://documents.example/report",
        sha256: "a".repeat(64),
      });
    },
    changes: [{ title: "one" }, { title: "two" }],
  },
  "/v1/admin/guardrails/configs/{id}": described("/v1/admin/guardrails/configs", {
    name: "of a kind",
    builtin: { pii_enabled: true },
    providers: [{ provider: "webhook", endpoint: "https://engine.example/", api_key: "a-key-of-a-kind" }],
  }),
  "/v1/admin/argument-policies/{id}": described("/v1/admin/argument-policies", {
    name: "of a kind",
    target: "run_query",
    argument_key: "sql",
    analyzer: "sql",
    rules: [{ deny_if: "writes", message: "No." }],
  }),
  "/v1/admin/semantic-cache/configs/{id}": posted(
    "/v1/admin/semantic-cache/configs",
    { name: "of a kind" },
    { exact_match: { enabled: false } },
    { exact_match: { ttl_seconds: 60 } },
  ),
  "/v1/admin/kb-connectors/{id}": {
    async made() {
      const { reply } = await post("/v1/admin/knowledgebases", { name: crypto.randomUUID() });
      const source = { connector_type: "directory", location: "handbook" };
      return post("/v1/admin/kb-connectors", { name: "of a kind", knowledge_base_id: reply.body.id, ...source });
    },
    changes: [{ every_minutes: 30 }, { every_minutes: 60 }],
  },
  "/v1/admin/kb-identities/{id}": {
    async made() {
      const { reply } = await post("/v1/admin/end-users", { username: `reader-${crypto.randomUUID()}`, password: "long enough" });
      return post("/v1/admin/kb-identities", { end_user_id: reply.body.user.id, connector_type: "git", source_identity: "ada" });
    },
    changes: [{ source_identity: "one" }, { source_identity: "two" }],
  },
  "/v1/admin/webhooks/{id}": posted(
    "/v1/admin/webhooks",
    { name: "of a kind", url: "http://hooks.example/a" },
    { enabled: true },
    { enabled: false },
  ),
  "/v1/admin/web-search/{id}": posted(
    "/v1/admin/web-search",
    { name: "of a kind", kind: "searxng", base_url: "http://searxng.example" },
    { priority: 1 },
    { priority: 2 },
  ),
  "/v1/admin/usage-import/providers/{id}": {
    async made() {
      const key = crypto.randomUUID();
      const { reply } = await post("/v1/admin/providers", {
        provider_key: key,
        api_format: "anthropic",
        base_url: "https://api.anthropic.com",
      });
      return { path: `/v1/admin/usage-import/providers/${reply.body.id}` };
    },
    changes: [{ import_schedule_cron: "17 4 * * *" }, { import_schedule_cron: "17 5 * * *" }],
  },
  "/v1/admin/compliance/gdpr/statements": {
    made: async () => ({ path: "/v1/admin/compliance/gdpr/statements" }),
    changes: [statements("one"), statements("two")],
  },
  "/v1/admin/knowledgebases/{id}": described("/v1/admin/knowledgebases", { name: "of a kind" }),
  "/v1/admin/semantic-policies/{id}": described("/v1/admin/semantic-policies", { name: "of a kind", constraint_text: "Be kind." }),
  "/v1/admin/assets/{id}": described("/v1/admin/assets", { name: "of a kind", asset_type: "other" }),
  "/v1/admin/discovery/settings": {
    made: async () => ({ path: "/v1/admin/discovery/settings" }),
    changes: [{ gateway_origins: ["https://one.example"] }, { gateway_origins: ["https://two.example"] }],
  },
  "/v1/admin/compliance/profile": {
    made: async () => ({ path: "/v1/admin/compliance/profile" }),
    changes: [{ frameworks: ["soc2"] }, { frameworks: ["hipaa"] }],
  },
  "/v1/admin/notice-config": {
    made: async () => {
      await owner("PUT", "/v1/admin/notice-config", { surface: "banner" });
      return { path: "/v1/admin/notice-config" };
    },
    changes: [{ surface: "inline" }, { surface: "both" }],
  },
  "/v1/admin/scim-tokens/{id}": posted("/v1/admin/scim-tokens", { name: "of a kind" }, { name: "one" }, { name: "two" }),
  "/v1/admin/identity-providers/{id}": posted(
    "/v1/admin/identity-providers",
    {
      kind: "oidc",
      audience: "portal",
      name: "of a kind",
      oidc: { issuer: "https://issuer.example", client_id: "c" },
      client_secret: "a secret of a kind",
    },
    { required_group: "one" },
    { required_group: "two" },
  ),
  "/v1/admin/api-keys/{id}": {
    made: () => post(`/v1/admin/resource-groups/${group}/api-keys`, { name: "of a kind" }, "/v1/admin/api-keys"),
    changes: [
      { allowed_skill_ids: [], allowed_addresses: ["10.0.0.0/8"] },
      { allowed_skill_ids: null, allowed_addresses: null },
    ],
  },
  [`${GROUP}/llm-global-limits`]: document("llm-global-limits", "llm_global_limits", quota(5), quota(6)),
  [`${GROUP}/llm-global-governance`]: document("llm-global-governance", "governance", maxTemperature(1), maxTemperature(0.5)),
  [`${GROUP}/mcp-global-limits`]: document("mcp-global-limits", "mcp_global_limits", callsPerMinute(5), callsPerMinute(6)),
  [`${GROUP}/skill-global-limits`]: document("skill-global-limits", "skill_global_limits", callsPerMinute(5), callsPerMinute(6)),
  [`${GROUP}/media-governance`]: document("media-governance", "media_governance", { image: { max_n: 2 } }, { image: { max_n: 1 } }),
  [`${GROUP}/web-search`]: document("web-search", "web_search", { fetch: { addresses: "none" } }, { fetch: { addresses: "known" } }),
  [`${GROUP}/run-ceilings`]: document("run-ceilings", "run_ceilings", { max_tokens_per_run: 5 }, { max_tokens_per_run: 6 }),
  [`${GROUP}/llm-models/{model_id}/limits`]: document(async () => `llm-models/${await model()}/limits`, "limits", quota(5), quota(6)),
  [`${GROUP}/llm-models/{model_id}/governance`]: document(
    async () => `llm-models/${await model()}/governance`,
    "governance",
    maxTemperature(1),
    {},
  ),
  [`${GROUP}/mcp-servers/{server_id}/limits`]: document(
    async () => `mcp-servers/${await server()}/limits`,
    "limits",
    callsPerMinute(5),
    {},
  ),
  [`${GROUP}/agent-skills/{skill_id}/limits`]: document(
    async () => `agent-skills/${await skill()}/limits`,
    "limits",
    callsPerMinute(5),
    {},
  ),
};

const routes = recordRoutes(OPERATIONS);
const reads = [...new Set([...routes.values()].map(({ read }) => read))];
const changeOf = (read: AdminOperation) =>
  OPERATIONS.filter(({ path, method }) => path === read.path && (method === "PATCH" || method === "PUT")) as [AdminOperation];
const shapeOf = (schema: unknown) => (schema as z.ZodObject).shape as Record<string, unknown>;

beforeAll(async () => {
  plane = await controlPlane();
  const { send } = await newTenant(plane, "acme");
  owner = (method, path, body, headers) =>
    path.startsWith("/v1/admin/tenants") ? plane.system(method, path, body, headers) : send(method, path, body, headers);
  group = (await post("/v1/admin/resource-groups", { name: "all of them" })).reply.body.id;
  provider = (await post("/v1/admin/providers", { provider_key: "p", api_format: "echo" })).reply.body.provider_key;
});
afterAll(() => plane.close());

/** The number of admin log entries and of configuration changes. */
async function logAndChangeCounts(): Promise<[number, number]> {
  const { db } = plane.database;
  const count = async (table: "admin_log" | "config_changes") =>
    (
      await db
        .selectFrom(table)
        .select((eb) => eb.fn.countAll<number>().as("n"))
        .executeTakeFirstOrThrow()
    ).n;
  return [await count("admin_log"), await count("config_changes")];
}

function differentValue(name: string, value: unknown): unknown {
  if (name.endsWith("_at") || name === "last_login" || name === "last_used_at") return "1999-01-01T00:00:00.000Z";
  if (typeof value === "boolean") return !value;
  if (typeof value === "number") return value + 1;
  if (Array.isArray(value)) return ["other"];
  return typeof value === "object" && value !== null ? { other: 1 } : "other";
}

test("every kind of record has a test case", () => {
  expect(reads.map(({ path }) => path).sort()).toEqual(Object.keys(KINDS).sort());
});

describe.each(reads.map((read) => [read.path, read] as const))("%s", (_path, read) => {
  const kind = KINDS[read.path] as Kind;
  const [{ method }] = changeOf(read);
  const etag = (reply: Reply) => reply.headers.get("etag") ?? "none";
  let path = "";

  test("has the same ETag wherever it is returned, and a GET with a matching If-None-Match answers 304", async () => {
    const made = await kind.made();
    path = made.path;
    const first = await owner("GET", path);
    expect([first.status, etag(first)]).toEqual([200, expect.stringMatching(/^"[^"]+"$/)]);
    if (made.reply !== undefined) expect(etag(made.reply)).toBe(etag(first));
    for (const held of [etag(first), `W/${etag(first)}`, `"other", ${etag(first)}`, "*"]) {
      const again = await owner("GET", path, undefined, { "if-none-match": held });
      expect([again.status, again.body, etag(again)]).toEqual([304, "", etag(first)]);
    }
    expect((await owner("GET", path, undefined, { "if-none-match": '"other"' })).status).toBe(200);
  });

  test("written back as read changes nothing, is not logged, and announces no configuration change", async () => {
    const { body, headers } = await owner("GET", path);
    const before = await logAndChangeCounts();
    for (const { method: change } of changeOf(read)) {
      const back = await owner(change, path, body);
      expect([back.status, back.body, etag(back)]).toEqual([200, body, headers.get("etag") ?? ""]);
    }
    expect((await owner("GET", path)).body).toEqual(body);
    expect(await logAndChangeCounts()).toEqual(before);
  });

  test("applies a change once, also when the whole record as read is sent with it", async () => {
    const [first, second] = kind.changes;
    const changed = await owner(method, path, first);
    expect([changed.status, changed.body]).toMatchObject([200, first]);
    const before = await logAndChangeCounts();
    expect([(await owner(method, path, first)).body, await logAndChangeCounts()]).toEqual([changed.body, before]);
    const whole = await owner(method, path, { ...changed.body, ...second });
    expect([whole.status, whole.body]).toMatchObject([200, second]);
    expect(await logAndChangeCounts()).not.toEqual(before);
    expect(etag(whole)).not.toBe(etag(changed));
    expect(etag(await owner("GET", path))).toBe(etag(whole));
  });

  test("is changed only if If-Match matches, else 412", async () => {
    const [first, second] = kind.changes;
    const stale = etag(await owner("GET", path));
    const changed = await owner(method, path, first, { "if-match": stale });
    expect([changed.status, changed.body]).toMatchObject([200, first]);
    const before = await logAndChangeCounts();
    for (const tag of [stale, '"other"', `W/${etag(changed)}`, "nonsense"]) {
      const refused = await owner(method, path, second, { "if-match": tag });
      expect([tag, refused.status, refused.body.code, etag(refused)]).toEqual([tag, 412, "precondition_failed", etag(changed)]);
    }
    expect([(await owner("GET", path)).body, (await logAndChangeCounts())[1]]).toEqual([changed.body, before[1]]);
    expect((await owner(method, path, second, { "if-match": "*" })).status).toBe(200);
    const at = etag(await owner("GET", path));
    const both = await Promise.all([first, first].map((body) => owner(method, path, body, { "if-match": `"other", ${at}` })));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 412]);
  });

  test("refuses changes to read-only fields with 422, naming the field", async () => {
    const { body } = await owner("GET", path);
    for (const change of changeOf(read)) {
      const readOnly = Object.keys(body).filter((name) => !(name in shapeOf(change.body)));
      for (const name of readOnly) {
        const refused = await owner(change.method, path, { ...body, [name]: differentValue(name, body[name]) });
        expect([name, refused.status, refused.body.code, refused.body.fields]).toEqual([
          name,
          422,
          "read_only_field",
          [{ field: name, message: "cannot be changed" }],
        ]);
      }
    }
    expect((await owner("GET", path)).body).toEqual(body);
  });

  test("accepts in a change every member that its POST accepts", () => {
    const at = [read.path.replace(/\/\{\w+\}$/, ""), ...(read.path === "/v1/admin/api-keys/{id}" ? [`${GROUP}/api-keys`] : [])];
    const creates = OPERATIONS.filter((one) => one.method === "POST" && one.answer.status === 201 && at.includes(one.path));
    const takes = Object.keys({ ...shapeOf(read.answer.schema), ...shapeOf(changeOf(read)[0].body) });
    for (const create of creates)
      expect(Object.keys(shapeOf(create.body)).filter((name) => !takes.includes(name) && name !== "send_welcome_email")).toEqual([]);
  });

  test("is deleted only if If-Match matches, else 412", async () => {
    const removal = OPERATIONS.find((one) => one.path === read.path && one.method === "DELETE");
    if (removal === undefined) return;
    const refused = await owner("DELETE", path, undefined, { "if-match": '"other"' });
    expect([refused.status, refused.body.code]).toEqual([412, "precondition_failed"]);
    const gone = await owner("DELETE", path, undefined, { "if-match": etag(await owner("GET", path)) });
    expect(gone.status).toBe(removal.answer.status);
  });
});
