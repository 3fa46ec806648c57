import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { RESPONSE_RETENTION_MS } from "../../../server/directory/writes/idempotent-request.ts";
import { pruneIdempotentAnswers } from "../../../server/store/records/idempotent-answers.ts";
import { OPERATIONS } from "../../../server/surfaces/admin/routes.ts";
import { controlPlane, movableClock, newTenant, type ControlPlane, type Reply, type Send } from "./admin-harness.ts";

const clock = movableClock();
let plane: ControlPlane;
let owner: Send;
let group = "";
let governed = "";
let apiKey = "";
let server = "";
let agent = "";
let knowledge = "";
let reader = "";
/** Called by each discovery of a tool server. */
let onDiscovery: () => Promise<unknown> = async () => undefined;

beforeAll(async () => {
  plane = await controlPlane({
    clock,
    jwtExpirySeconds: 10_000_000,
    toolServers: { discover: async () => onDiscovery().then(() => ({ status: "inconclusive", detail: "Nothing is there." })) },
  });
  owner = (await newTenant(plane, "acme")).send;
  group = (await owner("POST", "/v1/admin/resource-groups", { name: "g" })).body.id;
  governed = (await owner("POST", "/v1/admin/resource-groups", { name: "governed" })).body.id;
  await owner("POST", "/v1/admin/ai-systems", { group_id: group });
  apiKey = (await owner("POST", `/v1/admin/resource-groups/${group}/api-keys`, { name: "rotated" })).body.id;
  server = (await owner("POST", "/v1/admin/mcp-servers", { name: "s", base_url: "http://s.example" })).body.id;
  agent = (await owner("POST", "/v1/admin/agents", { card_name: "a", name: "a", base_url: "http://a.example" })).body.id;
  knowledge = (await owner("POST", "/v1/admin/knowledgebases", { name: "k" })).body.id;
  reader = (await owner("POST", "/v1/admin/end-users", { username: "reader", password: "long enough" })).body.user.id;
  await owner("POST", "/v1/admin/providers", { provider_key: "p", api_format: "echo" });
});
afterAll(() => plane.close());

/** A body for each idempotent request: a new one without an entry fails here. */
const BODIES: Record<string, () => object> = {
  "POST /v1/admin/tenants": () => ({ id: "once", name: "Once" }),
  "POST /v1/admin/admin-users": () => ({ username: "once", password: "long enough" }),
  "POST /v1/admin/end-users": () => ({ username: "once", password: "long enough" }),
  "POST /v1/admin/end-user-groups": () => ({ name: "once" }),
  "POST /v1/admin/providers": () => ({ provider_key: "once", api_format: "echo" }),
  "POST /v1/admin/llms": () => ({ name: "once", provider: "p" }),
  "POST /v1/admin/llm-router/routing-groups": () => ({ id: "routed-once" }),
  "POST /v1/admin/llm-catalog/{catalog_id}/import": () => ({ name: "imported once" }),
  "POST /v1/admin/resource-groups": () => ({ name: "once" }),
  "POST /v1/admin/mcp-servers": () => ({ name: "once", base_url: "http://once.example" }),
  "POST /v1/admin/server-configs": () => ({ name: "once", mcp_server_id: server }),
  "POST /v1/admin/virtual-servers": () => ({ name: "once" }),
  "POST /v1/admin/agents": () => ({ card_name: "once", name: "once", base_url: "http://once.example" }),
  "POST /v1/admin/agent-grants": () => ({ agent_id: agent, group_ids: [] }),
  "POST /v1/admin/guardrails/configs": () => ({ name: "once" }),
  "POST /v1/admin/argument-policies": () => ({
    name: "once",
    target: "t",
    argument_key: "a",
    analyzer: "shell",
    rules: [{ deny_if: "chaining", message: "x" }],
  }),
  "POST /v1/admin/identity-providers": () => ({
    name: "once",
    kind: "oidc",
    audience: "portal",
    oidc: { issuer: "https://issuer.example.org", client_id: "gateway" },
  }),
  "POST /v1/admin/scim-tokens": () => ({ name: "once" }),
  "POST /v1/admin/compliance/reports": () => ({ framework: "soc2" }),
  "POST /v1/admin/assets": () => ({ name: "once", asset_type: "other" }),
  "POST /v1/admin/discovery/collector-keys": () => ({
    collector_id: "once",
    public_key: Buffer.alloc(32, 5).toString("base64"),
    trust_tier: "low",
  }),
  "POST /v1/admin/knowledgebases": () => ({ name: "once" }),
  "POST /v1/admin/kb-connectors": () => ({ name: "once", knowledge_base_id: knowledge, connector_type: "directory", location: "x" }),
  "POST /v1/admin/kb-identities": () => ({ end_user_id: reader, connector_type: "git", source_identity: "ada" }),
  "POST /v1/admin/webhooks": () => ({ name: "once", url: "http://hooks.example/a" }),
  "POST /v1/admin/web-search": () => ({ name: "once", kind: "searxng", base_url: "http://searxng.example" }),
  "POST /v1/admin/semantic-cache/configs": () => ({ name: "once" }),
  "POST /v1/admin/semantic-policies": () => ({ name: "once", constraint_text: "Be kind." }),
  "POST /v1/admin/ai-systems": () => ({ group_id: governed }),
  "POST /v1/admin/ai-systems/{id}/evidence": () => ({ kind: "other", uri: "https://documents.example/a", sha256: "0".repeat(64) }),
  "POST /v1/admin/ai-systems/{id}/assurance": () => ({}),
  "POST /v1/admin/response-policies": () => ({ name: "once", finding_kinds: ["tool_drift"], action: "suspend" }),
  "POST /v1/admin/ai-systems/{id}/response-policies": () => ({ name: "once more", finding_kinds: ["tool_drift"], action: "suspend" }),
  "POST /v1/admin/incident-windows": () => ({ title: "once", severity: "sev1", started_at: "2026-01-01T00:00:00Z" }),
  "POST /v1/admin/ai-systems/{id}/incident-windows": () => ({ title: "once", severity: "sev1", started_at: "2026-01-01T00:00:00Z" }),
  "POST /v1/admin/ai-systems/{id}/contracts": () => ({ note: "once" }),
  "POST /v1/admin/resource-groups/{id}/api-keys": () => ({ name: "once" }),
  "POST /v1/admin/api-keys/{id}/rotate": () => ({ grace_seconds: 60 }),
  "POST /v1/admin/data-erasure": () => ({ subject: { subject_id: "nobody" } }),
};

const once = OPERATIONS.filter((one) => one.method === "POST" && (one.once === true || one.answer.status === 201));

async function requestOf(path: string): Promise<[Send, string]> {
  const entry = (await owner("GET", "/v1/admin/llm-catalog?page_size=1&provider_key=openai")).body.entries[0].id as string;
  const id = path.startsWith("/v1/admin/api-keys") ? apiKey : group;
  return [path === "/v1/admin/tenants" ? plane.system : owner, path.replace("{catalog_id}", entry).replace("{id}", id)];
}

const answerOf = (reply: Reply) => [reply.status, reply.body, reply.headers.get("etag")];
const changes = async () =>
  (
    await plane.database.db
      .selectFrom("admin_log")
      .select((eb) => eb.fn.countAll<number>().as("n"))
      .where("action", "<>", "refused")
      .executeTakeFirstOrThrow()
  ).n;

describe("a request with an Idempotency-Key", () => {
  test.each(once.map((one) => [`${one.method} ${one.path}`, one] as const))("is carried out once: %s", async (name, { path }) => {
    const [send, at] = await requestOf(path);
    const body = (BODIES[name] as () => object)();
    const headers = { "idempotency-key": `key of ${name}` };
    const [first, ...others] = (await Promise.all([1, 2, 3].map(() => send("POST", at, body, headers)))) as [Reply, Reply, Reply];
    const made = await changes();
    others.push(await send("POST", at, body, headers));
    expect([first.status < 300, ...others.map(answerOf)]).toEqual([true, ...others.map(() => answerOf(first))]);
    const replayed = [first, ...others].map((reply) => reply.headers.get("idempotent-replayed"));
    expect(replayed.filter((told) => told === "true").length).toBe(3);
    expect(await changes()).toBe(made);
  });

  test("stores its response encrypted, since it may contain a new API key", async () => {
    const headers = { "idempotency-key": "sealed" };
    const made = await owner("POST", `/v1/admin/resource-groups/${group}/api-keys`, { name: "sealed" }, headers);
    const rows = await plane.database.db.selectFrom("idempotent_answers").selectAll().execute();
    expect(rows.every((row) => row.is_final)).toBe(true);
    expect(JSON.stringify(rows)).not.toContain(made.body.key_value);
    expect((await owner("POST", `/v1/admin/resource-groups/${group}/api-keys`, { name: "sealed" }, headers)).body).toEqual(made.body);
  });

  test("is refused when the body or path differs; each tenant has its own keys, a system administrator one for all", async () => {
    const headers = { "idempotency-key": "mine" };
    expect((await owner("POST", "/v1/admin/resource-groups", { name: "mine" }, headers)).status).toBe(201);
    for (const [path, body] of [
      ["/v1/admin/resource-groups", { name: "other" }],
      ["/v1/admin/end-user-groups", { name: "mine" }],
    ] as const) {
      const refused = await owner("POST", path, body, headers);
      expect([refused.status, refused.body.code]).toEqual([409, "idempotency_key_reused"]);
    }
    const beta = await newTenant(plane, "beta");
    expect((await beta.send("POST", "/v1/admin/resource-groups", { name: "mine" }, headers)).body.tenant_id).toBe("beta");
    const system = (tenant: string) =>
      plane.system("POST", "/v1/admin/resource-groups", { name: "of the system" }, { ...headers, "x-tenant-id": tenant });
    expect([(await system("acme")).status, (await system("beta")).status]).toEqual([201, 409]);
  });

  test("that was refused is carried out when it is sent again", async () => {
    const headers = { "idempotency-key": "refused first" };
    const create = () => owner("POST", "/v1/admin/llms", { name: "waits", provider: "later" }, headers);
    expect((await create()).status).toBe(400);
    await owner("POST", "/v1/admin/providers", { provider_key: "later", api_format: "echo" });
    const made = await create();
    expect([made.status, (await create()).body]).toEqual([201, made.body]);
  });

  test("waits for the same request in progress and returns the same response", async () => {
    const gate = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    onDiscovery = () => (arrived.resolve(), gate.promise);
    const create = () =>
      owner("POST", "/v1/admin/mcp-servers", { name: "slow", base_url: "http://slow.example" }, { "idempotency-key": "slow" });
    const first = create();
    await arrived.promise;
    const second = create();
    gate.resolve();
    onDiscovery = async () => undefined;
    expect(answerOf(await second)).toEqual(answerOf(await first));
    expect((await second).body.discovery.status).toBe("inconclusive");
  });

  test("counts as new after a day, and the stored response is deleted", async () => {
    const headers = { "idempotency-key": "daily" };
    const create = () => owner("POST", "/v1/admin/resource-groups", { name: "daily" }, headers);
    const made = await create();
    clock.advance(RESPONSE_RETENTION_MS - 60_000);
    expect((await create()).body.id).toBe(made.body.id);
    clock.advance(61_000);
    expect((await create()).body.existing_id).toBe(made.body.id);
    for (let run = 0; run < 2; run++) await pruneIdempotentAnswers(plane.database.db, new Date(clock.now() - RESPONSE_RETENTION_MS));
    expect(await plane.database.db.selectFrom("idempotent_answers").selectAll().execute()).toEqual([]);
  });

  test("leaves no stored response of a deleted end user", async () => {
    const headers = { "idempotency-key": "a person" };
    const { user } = (await owner("POST", "/v1/admin/end-users", { username: "leaving", password: "long enough" }, headers)).body;
    const kept = () => plane.database.db.selectFrom("idempotent_answers").selectAll().where("record_id", "=", user.id).execute();
    expect((await kept()).length).toBe(1);
    await owner("DELETE", `/v1/admin/end-users/${user.id}`);
    expect(await kept()).toEqual([]);
  });

  test("is refused when the key is too long or not ASCII", async () => {
    for (const key of ["x".repeat(201), "ü"]) {
      const refused = await owner("POST", "/v1/admin/resource-groups", { name: "x" }, { "idempotency-key": key });
      expect([refused.status, refused.body.fields[0].field]).toEqual([400, "Idempotency-Key"]);
    }
  });
});
