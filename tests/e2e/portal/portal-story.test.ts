import { afterAll, beforeAll, expect, test } from "bun:test";
import { PortalTokens } from "../../../server/directory/people/portal/portal-tokens.ts";
import { systemClock } from "../../../server/kernel/clock.ts";
import { type AdminClient, rowOf, rowsOf, serveModels, type Served, signIn } from "../../support/worlds/admin.ts";
import { logIn, newPerson, PASSWORD, portalClient, type PortalClient } from "../../support/worlds/portal.ts";
import { startStatelessServer, type ToolServerFixture } from "../../support/tool-servers/tool-servers.ts";
import { totpCode } from "../../support/identity/totp.ts";
import { startWorld, type World } from "../../support/world.ts";
import { grant, stateless } from "../tools/mcp-harness.ts";

/**
 * One person's path from registering to being listed, in order: each test depends on those before it. Also present: a colleague, someone in
 * no group, a person of the same name in another tenant, and her own token of the day before.
 */

type Person = PortalClient & { readonly id: string };

const JWT_SECRET = "the secret of one person's story";
const ADMIN_PASSWORD = "long enough for an administrator";
const HOUR_MS = 3_600_000;
const WORDS = "In confidence: the harvest was poor.";

let world: World;
let url: string;
let served: Served;
let tools: ToolServerFixture;
let serverId: string;
let developer: AdminClient;
let elsewhere: AdminClient;
let ben: Person;
let outsider: Person;
let namesake: Person;
let ada: Person;
let yesterday: PortalClient;
let runId: string;
let secret: string;
let backupCode: string;

beforeAll(async () => {
  world = await startWorld({ GW_JWT_SECRET: JWT_SECRET });
  url = world.gateway.runtimeUrl;
  const { admin, gateway } = world;
  served = await serveModels(admin, world.upstream.baseUrl, ["fake-1"]);
  tools = startStatelessServer();
  serverId = (await admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: "tools", base_url: tools.baseUrl })).id;
  await grant(admin, "tools", serverId, [served.groupId], { approval_required_tools: ["echo"] });
  await admin.post("/v1/admin/tenants", { id: "other", name: "other" });
  for (const [username, tenant_id, role] of [
    ["developer", "default", "developer"],
    ["elsewhere", "other", "owner"],
  ])
    await admin.post("/v1/admin/admin-users", { tenant_id, username, password: ADMIN_PASSWORD, role });
  developer = await signIn(gateway.adminUrl, { username: "developer", password: ADMIN_PASSWORD }, "tenant");
  elsewhere = await signIn(gateway.adminUrl, { username: "elsewhere", password: ADMIN_PASSWORD }, "tenant");
  ben = await newPerson(url, "ben");
  outsider = await newPerson(url, "outsider");
});
afterAll(async () => {
  await tools.stop();
  await world.end();
});

const inOther = { "x-tenant-id": "other" };
const codeOf = (steps: number) => totpCode(secret, Math.floor(Date.now() / 30_000) + steps);
const bearer = ({ token }: PortalClient) => ({ authorization: `Bearer ${token}`, "content-type": "application/json" });

/** Status and error code of the same request from those who may not make it: the old token first, then the others. */
async function refused(
  method: string,
  path: string,
  body?: unknown,
  others: readonly PortalClient[] = [outsider, namesake],
): Promise<[number, string][]> {
  const replies: [number, string][] = [];
  for (const client of [yesterday, ...others]) {
    const reply = await client.request(method, path, body);
    replies.push([reply.status, reply.body.code]);
    expect(await rowOf(world.admin, { correlation_id: reply.headers.get("x-correlation-id") })).toMatchObject({
      success: false,
      http_status_code: reply.status,
    });
  }
  return replies;
}

const OVER: [number, string] = [401, "unauthenticated"];
const NOT_THERE: [number, string] = [404, "not_found"];

async function chat(client: PortalClient, headers: Record<string, string> = {}): Promise<{ status: number; body: any; headers: Headers }> {
  const reply = await fetch(`${url}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { ...bearer(client), ...headers },
    body: JSON.stringify({ model_id: served.models["fake-1"], messages: [{ role: "user", content: WORDS }] }),
  });
  return { status: reply.status, body: await reply.json(), headers: reply.headers };
}

async function callTool(client: PortalClient, approvalToken?: string): Promise<{ status: number; body: any; headers: Headers }> {
  const reply = await fetch(`${url}/v1/proxy/mcp/${serverId}`, {
    method: "POST",
    headers: {
      ...bearer(client),
      accept: "application/json, text/event-stream",
      ...(approvalToken === undefined ? {} : { "x-approval-token": approvalToken }),
    },
    body: JSON.stringify(stateless(1, "tools/call", { name: "echo", arguments: { text: WORDS } })),
  });
  const text = await reply.text();
  const data = text.startsWith("{")
    ? text
    : text
        .split("\n")
        .findLast((line) => line.startsWith("data:"))
        ?.slice(5);
  return { status: reply.status, body: JSON.parse(data ?? "null"), headers: reply.headers };
}

test("ada registers, and her user name is taken only in her tenant", async () => {
  const body = { username: "ada", password: PASSWORD, email: "ada@example.com" };
  const made = await portalClient(url).request("POST", "/auth/register", body);
  const again = await portalClient(url).request("POST", "/auth/register", { ...body, username: "ADA" });
  const other = await portalClient(url).request("POST", "/auth/register", { ...body, password: `${PASSWORD} of another` }, inOther);
  expect([made.status, again.status, other.status]).toEqual([201, 409, 201]);
  const login = await portalClient(url).request("POST", "/auth/login", { username: "ada", password: `${PASSWORD} of another` }, inOther);
  namesake = { ...portalClient(url, login.body.access_token), id: other.body.id };
  expect(namesake.id).not.toBe(made.body.id);
});

test("she signs in with her own password in her own tenant, and an expired token is refused", async () => {
  const tries = [
    { username: "ada", password: "wrong" },
    { username: "nobody", password: PASSWORD },
  ];
  for (const body of tries) expect((await portalClient(url).request("POST", "/auth/login", body)).status).toBe(401);
  expect((await portalClient(url).request("POST", "/auth/login", { username: "ada", password: PASSWORD }, inOther)).status).toBe(401);
  const client = await logIn(url, "ada");
  const { body } = await client.request("POST", "/auth/validate");
  ada = { ...client, id: body.user.id };
  const past = { ...systemClock(), now: () => Date.now() - 24 * HOUR_MS };
  yesterday = portalClient(
    url,
    await new PortalTokens({ secret: JWT_SECRET, expirySeconds: 3_600, clock: past }).issue({
      id: ada.id,
      tenant_id: "default",
      username: "ada",
      email: null,
      tokens_valid_from: new Date(0),
    }),
  );
  expect(await refused("POST", "/auth/validate", undefined, [])).toEqual([OVER]);
  expect((await ada.request("GET", "/auth/profile", undefined, inOther)).status).toBe(401);
});

test("a token for a malformed user or tenant ID is refused with 401", async () => {
  for (const [id, tenant_id] of [
    ["ada", "default"],
    [ada.id, "def\0ault"],
  ] as const) {
    const token = await new PortalTokens({ secret: JWT_SECRET, expirySeconds: 3_600, clock: systemClock() }).issue({
      ...{ id, tenant_id, username: "ada", email: null, tokens_valid_from: new Date(0) },
    });
    const { status, body } = await portalClient(url, token).request("POST", "/auth/validate");
    expect([status, body.code]).toEqual([401, "unauthenticated"]);
  }
});

test("she sets up a second factor; a code is valid once and only for her", async () => {
  expect(await refused("POST", "/auth/2fa/setup", undefined, [])).toEqual([OVER]);
  const { body: setup } = await ada.request("POST", "/auth/2fa/setup");
  ({
    secret,
    backup_codes: [backupCode],
  } = setup);
  const first = codeOf(-1);
  expect((await namesake.request("POST", "/auth/2fa/verify", { code: first })).status).toBe(409);
  expect((await ada.request("POST", "/auth/2fa/verify", { code: first })).status).toBe(200);

  const { body: owed } = await portalClient(url).request("POST", "/auth/login", { username: "ada", password: PASSWORD });
  expect(owed).toMatchObject({ requires_2fa: true, user: { id: ada.id } });
  const withCode = (code: string, temp_token = owed.temp_token) =>
    portalClient(url).request("POST", "/auth/login/2fa", { temp_token, code });
  expect((await portalClient(url, owed.temp_token).request("GET", "/auth/profile")).status).toBe(401);
  expect([
    (await withCode(first)).status,
    (await withCode("000000")).status,
    (await withCode(codeOf(0), yesterday.token as string)).status,
    (await withCode(codeOf(0), namesake.token as string)).status,
  ]).toEqual([401, 401, 401, 401]);
  const code = codeOf(0);
  const signedIn = await withCode(code);
  expect([signedIn.status, (await withCode(code)).status]).toEqual([200, 401]);
  expect([(await withCode(backupCode)).status, (await withCode(backupCode)).status]).toEqual([200, 401]);
  ada = { ...portalClient(url, signedIn.body.access_token), id: ada.id };
});

test("only an administrator with the right permission adds her to a group", async () => {
  expect((await ada.request("GET", "/models")).body).toEqual({ models: [], total: 0 });
  const members = await world.admin.post("/v1/admin/end-user-groups", { name: "growers", initial_member_ids: [ada.id, ben.id] });
  const path = `/v1/admin/end-user-groups/${members.id}/resource-groups`;
  const body = { resource_group_ids: [served.groupId] };
  expect([(await developer.request("POST", path, body)).status, (await elsewhere.request("POST", path, body)).status]).toEqual([403, 404]);
  const asAdmin = await fetch(world.gateway.adminUrl + path, { method: "POST", headers: bearer(ada), body: JSON.stringify(body) });
  expect(asAdmin.status).toBe(401);
  await world.admin.post(path, body);
  expect((await ada.request("GET", "/models")).body.models.map(({ name }: { name: string }) => name)).toEqual(["fake-1"]);
});

test("she chats with a model of her group", async () => {
  const answer = await chat(ada, { "x-gw-run-id": "the harvest", "x-gw-conversation-handle": "01JABCDEFGHJKMNPQRSTVWXYZ0" });
  expect([answer.status, answer.headers.get("x-gw-ai-generated")]).toEqual([200, "true"]);
  runId = answer.headers.get("x-gw-run-id") as string;
  expect(await rowOf(world.admin, { correlation_id: answer.headers.get("x-correlation-id") })).toMatchObject({
    tenant_id: "default",
    api_key_id: null,
    gateway_user_username: "ada",
    resource_group_id: served.groupId,
    success: true,
  });
  for (const [client, status] of [
    [yesterday, 401],
    [outsider, 403],
    [namesake, 403],
  ] as const) {
    const reply = await chat(client);
    expect(reply.status).toBe(status);
    expect(await rowOf(world.admin, { correlation_id: reply.headers.get("x-correlation-id") })).toMatchObject({
      http_status_code: status,
      success: false,
      target_url: null,
    });
  }
});

test("her tool call is held, a colleague approves it, and it goes through once", async () => {
  const blocked = await callTool(ada);
  const id = blocked.headers.get("x-gw-approval-id");
  expect(blocked.body.error).toMatchObject({ code: 4030, data: { code: "approval_required", status: "pending" } });
  for (const client of [yesterday, outsider, namesake]) expect((await callTool(client)).headers.get("x-gw-approval-id")).toBeNull();

  expect(await refused("GET", `/approvals/${id}`)).toEqual([OVER, NOT_THERE, NOT_THERE]);
  expect(await refused("GET", `/approvals/${id}/poll`)).toEqual([OVER, NOT_THERE, NOT_THERE]);
  for (const verb of ["approve", "reject"])
    expect(await refused("POST", `/approvals/${id}/${verb}`, {}, [ada, outsider, namesake])).toEqual([
      OVER,
      [403, "forbidden"],
      NOT_THERE,
      NOT_THERE,
    ]);
  expect((await ben.request("GET", "/notifications?unread_only=true")).body.notifications[0]).toMatchObject({
    notification_type: "approval_requested",
    metadata: { approval_id: id },
  });
  expect((await ben.request("POST", `/approvals/${id}/approve`, { note: "go on" })).body).toMatchObject({
    status: "approved",
    resolved_by: "ben",
  });
  expect((await ben.request("POST", `/approvals/${id}/approve`, {})).status).toBe(409);

  const { approval_token: token } = (await ada.request("GET", `/approvals/${id}/poll`)).body;
  for (const client of [yesterday, outsider, namesake, ben]) expect((await callTool(client, token)).body.result).toBeUndefined();
  const through = await callTool(ada, token);
  expect([through.status, through.body.result.content[0].text]).toEqual([200, expect.stringContaining("harvest")]);
  expect((await callTool(ada, token)).status).toBe(403);
  expect(await rowOf(world.admin, { consumed_approval_request_id: id })).toMatchObject({ gateway_user_id: ada.id, success: true });
});

test("only she can give feedback on her run", async () => {
  const path = `/runs/${encodeURIComponent(runId)}/feedback`;
  expect(await refused("POST", path, { score: -1 }, [ben, outsider, namesake])).toEqual([OVER, NOT_THERE, NOT_THERE, NOT_THERE]);
  expect((await ada.request("POST", path, { score: 1, comment: "helpful" })).body).toEqual({ run_id: runId, score: 1 });
  expect((await ada.request("POST", path, { score: 0 })).body).toEqual({ run_id: runId, score: null });
});

test("she is in her tenant's user export, for administrators who may read it", async () => {
  const path = "/v1/admin/end-users/export/csv";
  const csv = await world.admin.get(`${path}?tenant_id=default`);
  expect(csv).toContain(`${ada.id},ada,ada@example.com`);
  expect(csv).not.toContain(namesake.id);
  expect((await elsewhere.get(path)).includes(ada.id)).toBe(false);
  expect([(await elsewhere.request("GET", `${path}?tenant_id=default`)).status, (await developer.request("GET", path)).status]).toEqual([
    403, 403,
  ]);
  for (const client of [ada, yesterday]) expect((await fetch(world.gateway.adminUrl + path, { headers: bearer(client) })).status).toBe(401);
});

test("the ledger is intact and has no password, code or token", async () => {
  await rowsOf(world.admin, { gateway_user_id: ada.id, proxy_subtype: "run_feedback" }, 2);
  const rows = JSON.stringify(await world.admin.post("/v1/admin/proxy-logs/query", { page_size: 200 }));
  for (const hidden of [PASSWORD, secret, backupCode, ada.token as string]) expect(rows).not.toContain(hidden);
  const [chain] = (await world.admin.get("/v1/admin/audit/chains")).chains;
  expect((await world.admin.post(`/v1/admin/audit/chains/${chain.chain_id}/verify`, {})).findings).toEqual([]);
});
