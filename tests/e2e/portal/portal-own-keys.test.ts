import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { jsonLog } from "../../../server/kernel/log.ts";
import { openDatabase } from "../../../server/store/database.ts";
import { rowOf, signIn } from "../../support/worlds/admin.ts";
import { logIn, newPerson, PASSWORD, portalClient } from "../../support/worlds/portal.ts";
import { startWorld, type World } from "../../support/world.ts";
import { newTeam } from "../tools/mcp-harness.ts";

let world: World;
let runtime: string;
beforeAll(async () => {
  world = await startWorld();
  runtime = world.gateway.runtimeUrl;
});
afterAll(() => world.end());

const allow = (portal_api_keys: "off" | "on") => world.admin.request("PATCH", "/v1/admin/tenants/default", { portal_api_keys });
const put = (id: string, group_id: string | null) => world.admin.request("PATCH", `/v1/admin/end-users/${id}/primary-group`, { group_id });
const models = (key: string, headers: Record<string, string> = {}) =>
  fetch(`${runtime}/v1/proxy/llm/models`, { headers: { "x-api-key": key, ...headers } });

test("people create keys only if their tenant allows it, and see and revoke only their own", async () => {
  const [ada, eve] = [await newPerson(runtime, "ada-keys"), await newPerson(runtime, "eve-keys")];
  expect((await ada.request("POST", "/api-keys", { name: "mine" })).body.code).toBe("own_keys_off");
  await allow("on");
  const made = await ada.request("POST", "/api-keys", { name: "mine" });
  expect([made.status, made.body.key]).toEqual([201, expect.stringMatching(/^sk_gw_api_[\w-]{43}$/)]);
  expect((await ada.request("POST", "/api-keys", { name: "mine" })).status).toBe(409);
  const past = await ada.request("POST", "/api-keys", { name: "late", expires_at: "2020-01-01T00:00:00Z" });
  expect([past.status, past.body.fields]).toEqual([400, [expect.objectContaining({ field: "expires_at" })]]);
  expect((await eve.request("GET", "/api-keys")).body).toEqual({ api_keys: [], total: 0, may_create: true });
  expect((await eve.request("DELETE", `/api-keys/${made.body.id}`)).status).toBe(404);
  const listed = await ada.request("GET", "/api-keys");
  expect(listed.body.api_keys).toEqual([expect.objectContaining({ id: made.body.id, status: "active" })]);
  expect(JSON.stringify(listed.body)).not.toContain(made.body.key);

  await allow("off");
  expect((await ada.request("GET", "/api-keys")).body.may_create).toBe(false);
  expect((await ada.request("DELETE", `/api-keys/${made.body.id}`)).body.status).toBe("revoked");
  await allow("on");

  // The log is immutable: a name in it would survive the erasure of whoever chose it.
  const log = await world.admin.request("GET", `/v1/admin/admin-log?resource=api-keys&resource_id=${made.body.id}`);
  expect(log.body.entries.map(({ action }: { action: string }) => action)).toEqual(["revoke", "create"]);
  expect(JSON.stringify(log.body)).not.toContain('"mine"');
});

test("a person's own key has the person's current access, and rows name the person", async () => {
  const ada = await newPerson(runtime, "ada-opens");
  const [here, there] = [await newTeam(world.admin, "own keys here"), await newTeam(world.admin, "own keys there")];
  const { body } = await ada.request("POST", "/api-keys", { name: "opens" });
  expect((await models(body.key)).status).toBe(403);
  await put(ada.id, here.groupId);
  const answer = await models(body.key);
  expect(answer.status).toBe(200);
  const row = await rowOf(world.admin, { id: answer.headers.get("x-request-id") });
  expect(row).toMatchObject({ api_key_id: body.id, gateway_user_id: ada.id, resource_group_id: here.groupId });
  expect((await models(body.key, { "x-resource-group": there.groupId })).status).toBe(403);
  // Someone who is moved out of a group loses it with the key too.
  await put(ada.id, there.groupId);
  expect((await models(body.key, { "x-resource-group": here.groupId })).status).toBe(403);
  expect((await models(body.key)).status).toBe(200);
  await world.admin.request("PATCH", `/v1/admin/end-users/${ada.id}/status`, { is_active: false });
  expect((await models(body.key)).status).toBe(403);
});

test("a person can have at most twenty keys, even when requested at the same time", async () => {
  const many = await newPerson(runtime, "many-keys");
  const answers = await Promise.all(Array.from({ length: 24 }, (_, at) => many.request("POST", "/api-keys", { name: `key ${at}` })));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(20);
  expect(new Set(answers.filter(({ status }) => status !== 201).map(({ body }) => body.code))).toEqual(new Set(["conflict"]));
});

test("all active keys are counted and listed, however many were revoked since", async () => {
  await allow("on");
  const eve = await newPerson(runtime, "turns-keys-over");
  const made = await Promise.all(Array.from({ length: 20 }, (_, at) => eve.request("POST", "/api-keys", { name: `kept ${at}` })));
  expect(new Set(made.map(({ status }) => status))).toEqual(new Set([201]));
  const connection = openDatabase(world.databaseUrl, { log: jsonLog("error"), max: 1 });
  await sql`UPDATE api_keys SET created_at = now() - interval '30 days' WHERE end_user_id = ${eve.id}`.execute(connection.db);
  await sql`
    INSERT INTO api_keys (id, tenant_id, name, scope, access_mode, end_user_id, key_hash, key_hint, revoked_at, created_at)
    SELECT gen_random_uuid(), tenant_id, 'ended ' || n, scope, access_mode, end_user_id, key_hash || n, key_hint, now(), now() - interval '9 days'
      FROM api_keys, generate_series(1, 300) n WHERE id = ${made[0]?.body.id}`.execute(connection.db);
  await connection.close();
  const { api_keys: shown } = (await eve.request("GET", "/api-keys")).body;
  const active = shown.filter(({ status }: { status: string }) => status === "active");
  expect(new Set(active.map(({ name }: { name: string }) => name))).toEqual(new Set(made.map(({ body }) => body.name)));
  expect((await eve.request("POST", "/api-keys", { name: "one more" })).body.error).toContain("20 active API keys");
  expect((await eve.request("POST", "/api-keys", { name: "kept 0" })).body.error).toContain("of this name");
});

test("a password set by somebody else only permits changing it", async () => {
  const { user } = await world.admin.post("/v1/admin/end-users", {
    tenant_id: "default",
    username: "handed-out",
    password: PASSWORD,
    must_change_password: true,
  });
  const group = await newTeam(world.admin, "forced");
  await put(user.id, group.groupId);
  const login = await portalClient(runtime).request("POST", "/auth/login", { username: "handed-out", password: PASSWORD });
  expect(login.body.user.must_change_password).toBe(true);
  const held = await logIn(runtime, "handed-out");
  for (const path of ["/models", "/notifications", "/approvals", "/api-keys", "/usage"])
    expect([path, (await held.request("GET", path)).body.code]).toEqual([path, "password_change_required"]);
  const chat = await fetch(`${runtime}/v1/proxy/llm/models`, { headers: { authorization: `Bearer ${held.token}` } });
  expect([chat.status, ((await chat.json()) as any).code]).toEqual([403, "password_change_required"]);
  expect((await held.request("GET", "/auth/profile")).status).toBe(200);

  const same = await held.request("POST", "/auth/change-password", { current_password: PASSWORD, new_password: PASSWORD });
  expect([same.status, same.body.fields]).toEqual([400, [expect.objectContaining({ field: "new_password" })]]);
  const changed = await held.request("POST", "/auth/change-password", { current_password: PASSWORD, new_password: "one of my own" });
  expect(changed.body.user.must_change_password).toBeUndefined();
  expect((await portalClient(runtime, changed.body.access_token).request("GET", "/models")).status).toBe(200);

  // Required later, the change also applies to tokens already issued.
  await world.admin.request("PATCH", `/v1/admin/end-users/${user.id}`, { must_change_password: true });
  expect((await portalClient(runtime, changed.body.access_token).request("GET", "/models")).body.code).toBe("password_change_required");
});

test("people see the usage of their own groups' limits only", async () => {
  const ada = await newPerson(runtime, "ada-usage");
  const [own, other] = [await newTeam(world.admin, "usage own"), await newTeam(world.admin, "usage other")];
  await put(ada.id, own.groupId);
  await world.admin.request("PATCH", `/v1/admin/resource-groups/${own.groupId}/llm-global-limits`, {
    llm_global_limits: { requests: { daily_limit: 0 }, budget: { monthly_limit_usd: 5, hard_stop: true } },
  });
  const { body } = await ada.request("GET", "/usage");
  expect(body.groups.map((group: any) => group.group_id)).toEqual([own.groupId]);
  expect(body.groups[0].limits).toEqual([
    expect.objectContaining({ limit_type: "monthly_budget", current: 0, limit: 5, blocks: true }),
    expect.objectContaining({ limit_type: "daily_requests", limit: 0, utilization_percent: 100 }),
  ]);
  expect((await ada.request("GET", `/usage?group_id=${other.groupId}`)).status).toBe(403);
});

test("an administrator of another tenant can neither see nor revoke a person's keys", async () => {
  const { tenantId, password } = await otherTenant();
  const ada = await newPerson(runtime, "ada-foreign");
  const { body } = await ada.request("POST", "/api-keys", { name: "foreign" });
  const foreign = await signIn(world.gateway.adminUrl, { username: "owner", password, tenant_id: tenantId }, "tenant");
  expect((await foreign.request("GET", `/v1/admin/api-keys/${body.id}`)).status).toBe(404);
  expect((await foreign.request("DELETE", `/v1/admin/api-keys/${body.id}`)).status).toBe(404);
  expect((await world.admin.request("GET", `/v1/admin/api-keys/${body.id}`)).body).toMatchObject({ end_user_id: ada.id, scope: "user" });
});

async function otherTenant(): Promise<{ tenantId: string; password: string }> {
  const password = "a long enough password";
  await world.admin.post("/v1/admin/tenants", { id: "elsewhere", name: "Elsewhere" });
  await world.admin.post("/v1/admin/admin-users", { tenant_id: "elsewhere", username: "owner", password, role: "owner" });
  return { tenantId: "elsewhere", password };
}
