import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AdminClient, rowOf, type Served, serveModels, signIn } from "../../support/worlds/admin.ts";
import { ADMIN_PASSWORD, removeDirectory, startGateway } from "../../support/gateway.ts";
import { startWorld, type World } from "../../support/world.ts";

let world: World;
let served: Served;
let officer: AdminClient;

beforeAll(async () => {
  world = await startWorld({ GW_STRANGER_ROWS_PER_MINUTE: "200", GW_TRUSTED_PROXIES: "127.0.0.1" });
  served = await serveModels(world.admin, world.upstream.baseUrl, ["fake-1"]);
  await world.admin.post("/v1/admin/tenants", { id: "acme", name: "acme" });
  const login = { username: "officer", password: ADMIN_PASSWORD, tenant_id: "acme" };
  await world.admin.post("/v1/admin/admin-users", { ...login, role: "security" });
  officer = await signIn(world.gateway.adminUrl, login, "tenant");
});
afterAll(() => world.end());

async function call(headers: Record<string, string>, from = "192.0.2.1"): Promise<{ status: number; id: string }> {
  const reply = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-forwarded-for": from, ...headers },
    body: JSON.stringify({ model: "fake-1", messages: [{ role: "user", content: "x" }] }),
  });
  await reply.arrayBuffer();
  return { status: reply.status, id: reply.headers.get("x-request-id") ?? "" };
}

test("a call without a valid credential is recorded for the tenant it names, visible to its security officer", async () => {
  const unknown = { authorization: `Bearer sk_gw_api_${"x".repeat(43)}` };
  for (const [credential, reason] of [
    [{}, "credential_missing"],
    [unknown, "credential_unknown"],
  ] as const) {
    const { id, status } = await call({ ...credential, "x-tenant-id": "acme" });
    expect(status).toBe(401);
    expect(await rowOf(officer, { id })).toMatchObject({ tenant_id: "acme", error_type: reason });
  }
  for (const named of ["nobody-there", "No Slug"]) {
    const { id } = await call({ "x-tenant-id": named });
    expect(await rowOf(world.admin, { id })).toMatchObject({ tenant_id: null, error_type: "credential_missing" });
  }
  // The key determines the tenant, whatever the headers claim.
  const { id } = await call({ "x-api-key": served.apiKey, "x-tenant-id": "acme" });
  expect(await rowOf(world.admin, { id })).toMatchObject({ tenant_id: "default", error_type: "tenant_mismatch" });
});

test("calls with a signed URL are not limited as unauthenticated, and calls with an altered one are", async () => {
  const files = `${world.gateway.runtimeUrl}/v1/proxy/files`;
  const form = new FormData();
  form.set("kind", "document");
  form.set("file", new Blob(["for all"]), "note.txt");
  const key = { "x-api-key": served.apiKey };
  const { id } = (await (await fetch(files, { method: "POST", headers: key, body: form })).json()) as { id: string };
  const { url } = (await (await fetch(`${files}/${id}/url`, { headers: key })).json()) as { url: string };
  const open = async (address: string) => {
    const reply = await fetch(address, { headers: { "x-forwarded-for": "192.0.2.77" } });
    await reply.arrayBuffer();
    return reply.status;
  };
  const opened = new Set<number>();
  for (let at = 0; at < 210; at++) opened.add(await open(url));
  expect([...opened]).toEqual([200]);
  const changed = new Set<number>();
  const altered = url.replace(/signature=./, (text) => (text.endsWith("A") ? "signature=B" : "signature=A"));
  for (let at = 0; at < 410 && !changed.has(429); at++) changed.add(await open(altered));
  expect([...changed]).toEqual([404, 429]);
  expect(await open(url)).toBe(200);
});

test("on every surface an invalid credential is recorded for the named tenant, also in exports", async () => {
  const server = "/v1/proxy/oauth/nowhere/nobody";
  const calls: [method: string, path: string, headers?: Record<string, string>][] = [
    ["POST", "/v1/proxy/llm/responses"],
    ["POST", "/v1/messages", { "x-api-key": "sk-ant-api03-nobody" }],
    ["POST", "/v1beta/models/fake-1:generateContent?key=nobody"],
    ["POST", "/v1/proxy/mcp/nowhere", { authorization: `Bearer gwo_${"x".repeat(60)}` }],
    ["GET", "/v1/proxy/vmcp/nowhere", { authorization: "Basic bm9ib2R5Om5vYm9keQ==" }],
    ["GET", "/v1/portal/auth/profile", { authorization: "Bearer eyJhbGciOiJub25lIn0.e30.x" }],
    ["POST", "/v1/portal/auth/login"],
    // These need no credential, and are refused later.
    ["POST", `${server}/token`],
    ["GET", `${server}/authorize`, { authorization: "Bearer nobody" }],
    ["GET", `${server}/.well-known/openid-configuration`],
  ];
  const ids: string[] = [];
  for (const [method, path, headers = {}] of calls) {
    const reply = await fetch(world.gateway.runtimeUrl + path, {
      method,
      headers: { "content-type": "application/json", "x-forwarded-for": "192.0.2.4", "x-tenant-id": "acme", ...headers },
      body: method === "POST" ? JSON.stringify({ username: "nobody", password: "x" }) : null,
    });
    await reply.arrayBuffer();
    const id = reply.headers.get("x-request-id") as string;
    expect([path, (await rowOf(officer, { id })).tenant_id]).toEqual([path, "acme"]);
    ids.push(id);
  }
  const exported = await officer.request("POST", "/v1/admin/proxy-logs/export", { format: "csv" });
  expect(ids.filter((id) => !JSON.stringify(exported.body).includes(id))).toEqual([]);
});

test("calls beyond the limit of unauthenticated calls are recorded in one row for each tenant they name", async () => {
  const from = "192.0.2.5";
  await Promise.all(Array.from({ length: 250 }, () => call({}, from)));
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    const { status } = await call({ "x-tenant-id": "acme" }, from);
    await call({ "x-tenant-id": "default" }, from);
    if (status === 401) continue;
    // Requests beyond the limit are recorded in one row once their minute is over.
    const { rows } = await officer.post("/v1/admin/proxy-logs/query", { filters: { proxy_subtype: "strangers", client_ip: from } });
    if (rows.length === 0) continue;
    expect(rows[0]).toMatchObject({ tenant_id: "acme", is_auth_event: true, error_type: "too_many_strangers" });
    return;
  }
});

test("many refused credentials within a minute raise one alert for the tenant", async () => {
  const refused = async () => (await officer.get("/v1/admin/alerts")).alerts as { alert_type: string; group_id: string | null }[];
  while ((await refused()).length === 0) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    await Promise.all(Array.from({ length: 60 }, () => call({ "x-tenant-id": "acme" }, "192.0.2.2")));
  }
  expect(await refused()).toMatchObject([{ alert_type: "refused_credentials", tenant_id: "acme", group_id: null, resolved: false }]);
});

test("the audit row of an unauthenticated call is small, whatever the caller sends", async () => {
  const long = (length: number) => "x".repeat(length);
  const headers = { "user-agent": long(2_000), "x-request-id": long(200), "x-correlation-id": long(200), "x-other": long(4_000) };
  const reply = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/models/${long(4_000)}`, {
    headers: { ...headers, "x-tenant-id": "acme" },
  });
  expect(reply.status).toBe(401);
  const row = await rowOf(officer, { id: reply.headers.get("x-request-id") });
  expect([row.user_agent, row.request_headers, row.response_headers]).toEqual([long(128), null, null]);
  expect(JSON.stringify(Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null))).length).toBeLessThan(1_400);
  const usual = await rowOf(officer, { id: (await call({ "x-tenant-id": "acme" })).id });
  expect(JSON.stringify(Object.fromEntries(Object.entries(usual).filter(([, value]) => value !== null))).length).toBeLessThan(1_000);
});

test("the audit row of an unauthenticated call has no values claimed in its headers", async () => {
  const claims = {
    ...{ "x-request-id": "theirs", "x-correlation-id": "corr" },
    traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
  };
  const reply = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/models`, { headers: { ...claims, "x-tenant-id": "acme" } });
  expect([reply.status, reply.headers.get("x-correlation-id")]).toEqual([401, "corr"]);
  const row = await rowOf(officer, { id: reply.headers.get("x-request-id") });
  expect([row.correlation_id, row.request_id, row.trace_id, row.span_id]).toEqual([null, null, null, null]);
  // Without a claimed correlation ID it is the call's own ID, which the caller was given.
  const { id } = await call({ "x-tenant-id": "acme" });
  expect((await rowOf(officer, { id })).correlation_id).toBe(id);
});

test("unauthenticated calls beyond the limit get 429 and are counted in rows, while other callers are served", async () => {
  const calls = 1_000;
  const before = (await world.admin.post("/v1/admin/proxy-logs/query", { filters: { error_type: "credential_malformed" } }))
    .total as number;
  const statuses: number[] = [];
  for (let i = 0; i < calls / 50; i++)
    statuses.push(
      ...(await Promise.all(Array.from({ length: 50 }, () => call({ authorization: "Bearer nobody" }, "192.0.2.3")))).map(
        ({ status }) => status,
      ),
    );
  const turnedAway = statuses.filter((status) => status === 429).length;
  expect([new Set(statuses), turnedAway > 0]).toEqual([new Set([401, 429]), true]);
  expect((await call({ "x-api-key": served.apiKey }, "192.0.2.3")).status).toBe(200);

  // A shutdown records the current minute.
  expect(await world.gateway.stop()).toBe(0);
  const again = await startGateway({ databaseUrl: world.databaseUrl, dataDir: world.gateway.dataDir });
  const admin = await signIn(again.adminUrl);
  const told = (await admin.post("/v1/admin/proxy-logs/query", { filters: { proxy_subtype: "strangers", client_ip: "192.0.2.3" } }))
    .rows as { custom_metadata: { calls: number } }[];
  expect(told.reduce((sum, row) => sum + row.custom_metadata.calls, 0)).toBe(turnedAway);
  const own = (await admin.post("/v1/admin/proxy-logs/query", { filters: { error_type: "credential_malformed" } })).total as number;
  expect(own - before).toBe(calls - turnedAway);
  expect(await again.stop()).toBe(0);
});

test("an error listing unknown fields lists at most twenty", async () => {
  const again = await startGateway({ databaseUrl: world.databaseUrl });
  const body = JSON.stringify({
    username: "a",
    password: "b",
    ...Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`k${i}`, i])),
  });
  for (const url of [`${again.adminUrl}/v1/admin-users/system/login`, `${again.runtimeUrl}/v1/portal/auth/login`]) {
    const reply = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
    const text = await reply.text();
    expect([reply.status, text.length < 4_000, text.includes("and 4980 more")]).toEqual([400, true, true]);
  }
  await again.stop();
  await removeDirectory(again.dataDir);
});
