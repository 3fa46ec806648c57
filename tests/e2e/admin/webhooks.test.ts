import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { sql } from "kysely";
import { requestApproval } from "../../../server/directory/tools/approvals.ts";
import type { Directory } from "../../../server/directory/writes/write.ts";
import { jsonLog } from "../../../server/kernel/log.ts";
import { raiseAlert } from "../../../server/store/policies/raise-alert.ts";
import { type DatabaseConnection, openDatabase } from "../../../server/store/database.ts";
import { approvalDemand } from "../../support/records/approvals.ts";
import { serveModels, type Served, signIn } from "../../support/worlds/admin.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Alerts and requests for approval as receivers of webhooks get them. */

interface Delivered {
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

const SECRET_BYTES = Buffer.alloc(32, 9);
const SECRET = `whsec_${SECRET_BYTES.toString("base64")}`;
let world: World;
let served: Served;
let connection: DatabaseConnection;
let receiver: Bun.Server<undefined>;
let delivered: Delivered[] = [];
let answer: (path: string) => Response | Promise<Response>;
const hook = (path: string) => `http://127.0.0.1:${receiver.port}${path}`;
const at = (path: string) => delivered.filter((one) => one.path === path);
const arrived = (path: string, count = 1) =>
  until(
    () => at(path),
    (those) => those.length >= count,
  );

beforeAll(async () => {
  receiver = Bun.serve({
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      delivered.push({ path: pathname + search, headers: request.headers, body: await request.text() });
      return answer(pathname);
    },
  });
  world = await startWorld({ GW_ALLOW_PRIVATE_UPSTREAMS: "on" });
  connection = openDatabase(world.databaseUrl, { log: jsonLog("error"), max: 1 });
  served = await serveModels(world.admin, world.upstream.baseUrl, ["fake-1"]);
});
beforeEach(() => {
  answer = () => new Response(null, { status: 204 });
});
afterEach(async () => {
  const { webhooks } = await world.admin.get("/v1/admin/webhooks?tenant_id=default");
  for (const { id } of webhooks) await world.admin.request("DELETE", `/v1/admin/webhooks/${id}`);
  delivered = [];
});
afterAll(async () => {
  await connection.close();
  await world.end();
  await receiver.stop(true);
});

const create = (body: object) => world.admin.post("/v1/admin/webhooks", { tenant_id: "default", ...body });
const read = (id: string) => world.admin.get(`/v1/admin/webhooks/${id}`);

/** Passes a group's daily limit, which raises an alert. */
async function passLimit(name: string): Promise<void> {
  const group = await world.admin.post("/v1/admin/resource-groups", { ...{ tenant_id: "default", name, group_type: "team" } });
  await world.admin.post(`/v1/admin/resource-groups/${group.id}/llm-models`, { model_ids: Object.values(served.models) });
  const limits = { requests: { daily_limit: 1 } };
  await world.admin.request("PATCH", `/v1/admin/resource-groups/${group.id}/llm-global-limits`, { llm_global_limits: limits });
  const { key_value: key } = await world.admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, { name });
  for (let call = 0; call < 2; call++)
    await (
      await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "fake-1", messages: [{ role: "user", content: "Hello" }] }),
      })
    ).arrayBuffer();
}

test("an alert is sent as signed JSON", async () => {
  const { id, ...made } = await create({
    name: "program",
    url: hook("/program?token=hidden"),
    signing_secret: SECRET,
    events: ["alert.raised"],
  });
  expect(made).toMatchObject({
    url_origin: new URL(hook("/")).origin,
    has_signing_secret: true,
    format: "standard",
    last_delivered_at: null,
  });
  expect(JSON.stringify(made)).not.toMatch(/hidden|whsec/);
  await passLimit("signed");
  const [message] = await arrived("/program?token=hidden");
  const { headers, body } = message as Delivered;
  const [messageId, timestamp] = [headers.get("webhook-id"), headers.get("webhook-timestamp")];
  const signature = createHmac("sha256", SECRET_BYTES).update(`${messageId}.${timestamp}.${body}`).digest("base64");
  expect(headers.get("webhook-signature")).toBe(`v1,${signature}`);
  expect(JSON.parse(body)).toMatchObject({
    type: "alert.raised",
    data: { tenant_id: "default", severity: expect.any(String), title: expect.any(String) },
  });
  const { last_delivered_at: time, last_error: error } = await until(
    () => read(id),
    (one) => one.last_delivered_at !== null,
  );
  expect([typeof time, error]).toEqual(["string", null]);
});

test("a chat gets a text in which no name is markup", async () => {
  await create({ name: "chat", url: hook("/services/T/B/x"), format: "slack" });
  await passLimit("<!channel> *all*");
  const [message] = await arrived("/services/T/B/x");
  const { text } = JSON.parse((message as Delivered).body);
  expect(text).toContain("&lt;!channel&gt;");
  expect(text).not.toContain("<!channel>");
  expect(text).not.toContain(" *all*");
});

test("no name becomes a link or a mention in any of the chats", async () => {
  const { id } = await create({
    name: "@here [pay](https://evil.example/x) www.evil.example @everyone",
    url: hook("/chats"),
    format: "slack",
  });
  await world.admin.request("POST", `/v1/admin/webhooks/${id}/test`);
  const [message] = await arrived("/chats");
  const { text } = JSON.parse((message as Delivered).body);
  for (const active of ["@here", "@everyone", "](", "://", "evil.example"]) expect(text).not.toContain(active);
  expect(text.replaceAll("\u200b", "")).toContain("@here [pay](https://evil.example/x) www.evil.example @everyone");
});

test("an alert that is raised while a webhook is being deleted is kept", async () => {
  const { id } = await create({ name: "leaving", url: hook("/leaving") });
  const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
  const deleted = Promise.withResolvers<void>();
  const other = openDatabase(world.databaseUrl, { log: jsonLog("error"), max: 1 });
  const deletion = other.db.transaction().execute(async (trx) => {
    await trx.deleteFrom("webhooks").where("id", "=", id).execute();
    deleted.resolve();
    await isReleased;
  });
  await deleted.promise;
  const alert = { tenant_id: "default", alert_type: "quota_warning", severity: "warning", title: "t", message: "m", group_id: null };
  const raised = raiseAlert(connection.db, { ...alert, threshold_value: 1, current_value: 1, crossing: "while-deleted", expires_at: null });
  const waiting = sql<{ n: number }>`SELECT count(*)::int AS n FROM pg_locks WHERE NOT granted`;
  const watch = openDatabase(world.databaseUrl, { log: jsonLog("error"), max: 1 });
  await until(
    async () => (await waiting.execute(watch.db)).rows[0]?.n ?? 0,
    (n) => n > 0,
  );
  release();
  await deletion;
  expect(await raised).toBe(true);
  await Promise.all([other.close(), watch.close()]);
});

test("requests for approval are sent without their arguments, and drift findings", async () => {
  await create({ name: "people", url: hook("/people"), events: ["approval.requested", "drift_finding.opened"] });
  const { db } = connection;
  const demand = approvalDemand("default", served.groupId, { callArguments: '{"password":"hidden"}' });
  await requestApproval({ db, clock: { now: Date.now } } as unknown as Directory, demand);
  const { id: system } = await world.admin.post("/v1/admin/ai-systems", { tenant_id: "default", group_id: served.groupId });
  await db
    .insertInto("drift_findings")
    .values({
      ...{ id: crypto.randomUUID(), tenant_id: "default", ai_system_id: system, kind: "model_drift", severity: "high", subject: "m" },
      ...{ title: "Another model answers", first_seen: new Date(), last_seen: new Date() },
    })
    .execute();
  const sent = (await arrived("/people", 2)).map(({ body }) => JSON.parse(body));
  const byType = Object.fromEntries(sent.map(({ type, data }) => [type, data]));
  expect(byType["approval.requested"]).toMatchObject({ server_name: "tools", capability_name: "delete_all", requester_type: "api_key" });
  expect(byType["drift_finding.opened"]).toMatchObject({ kind: "model_drift", title: "Another model answers", ai_system_id: system });
  expect(JSON.stringify(sent)).not.toContain("hidden");
});

test("a receiver that fails gets the message again, once it is ready", async () => {
  let isReady = false;
  answer = () => new Response(null, { status: isReady ? 200 : 503 });
  const { id } = await create({ name: "later", url: hook("/later") });
  expect((await world.admin.request("POST", `/v1/admin/webhooks/${id}/test`)).status).toBe(202);
  const [first] = await arrived("/later");
  const failed = await until(
    () => read(id),
    (one) => one.last_error !== null,
  );
  expect(failed.last_error).toContain("503");
  isReady = true;
  const [, again] = await arrived("/later", 2);
  expect(again?.headers.get("webhook-id")).toBe((first as Delivered).headers.get("webhook-id"));
});

test("a receiver that never answers holds up nobody else", async () => {
  const open = Promise.withResolvers<Response>();
  answer = (path) => (path === "/silent" ? open.promise : new Response(null, { status: 204 }));
  const silent = await create({ name: "silent", url: hook("/silent") });
  for (let one = 0; one < 10; one++) await world.admin.request("POST", `/v1/admin/webhooks/${silent.id}/test`);
  await arrived("/silent");
  await world.admin.post("/v1/admin/tenants", { id: "neighbour", name: "Neighbour" });
  const { id } = await world.admin.post("/v1/admin/webhooks", { tenant_id: "neighbour", name: "prompt", url: hook("/prompt") });
  await world.admin.request("POST", `/v1/admin/webhooks/${id}/test`);
  await arrived("/prompt");
  expect(at("/silent").length).toBeLessThan(10);
  open.resolve(new Response(null, { status: 204 }));
});

test("a receiver with many messages and no answer does not hold up the tenant's other webhooks", async () => {
  const pending: (() => void)[] = [];
  answer = (path) => {
    if (path !== "/slow") return new Response(null, { status: 204 });
    const { promise, resolve } = Promise.withResolvers<Response>();
    pending.push(() => resolve(new Response(null, { status: 500 })));
    return promise;
  };
  const slow = await create({ name: "slow", url: hook("/slow") });
  for (let one = 0; one < 10; one++) await world.admin.request("POST", `/v1/admin/webhooks/${slow.id}/test`);
  await arrived("/slow", 4);
  pending.shift()?.();
  await until(
    () => read(slow.id),
    (one) => one.last_failed_at !== null,
  );
  await arrived("/slow", 5);
  const other = await create({ name: "other", url: hook("/other") });
  await world.admin.request("POST", `/v1/admin/webhooks/${other.id}/test`);
  pending.shift()?.();
  await arrived("/other");
  const before = delivered.slice(
    0,
    delivered.findIndex(({ path }) => path === "/other"),
  );
  expect(before.map(({ path }) => path)).toEqual(Array(5).fill("/slow"));
  for (const end of pending) end();
});

test("a webhook gets only what it wants, of its own tenant, while it is on", async () => {
  const { id } = await create({ name: "off", url: hook("/off"), enabled: false });
  await create({ name: "others", url: hook("/approvals"), events: ["approval.requested"] });
  await world.admin.post("/v1/admin/tenants", { id: "stranger", name: "Stranger" });
  await world.admin.post("/v1/admin/webhooks", { tenant_id: "stranger", name: "w", url: hook("/stranger") });
  await create({ name: "all", url: hook("/all") });
  await passLimit("quiet");
  await arrived("/all");
  expect([...at("/off"), ...at("/approvals"), ...at("/stranger")]).toEqual([]);
  const person = { username: "owner-of-stranger", password: "correct horse battery" };
  await world.admin.post("/v1/admin/admin-users", { ...person, role: "owner", tenant_id: "stranger" });
  const owner = await signIn(world.gateway.adminUrl, { ...person, tenant_id: "stranger" }, "tenant");
  for (const [method, path] of [
    ["GET", ""],
    ["PATCH", ""],
    ["DELETE", ""],
    ["POST", "/test"],
  ] as const)
    expect(
      (await owner.request(method, `/v1/admin/webhooks/${id}${path}`, method === "PATCH" ? { enabled: true } : undefined)).status,
    ).toBe(404);
});

test("a secret does not move to another host unless it is sent again", async () => {
  const { id } = await create({ name: "moves", url: hook("/a"), signing_secret: SECRET });
  const change = async (body: object) => {
    const { status, body: answered } = await world.admin.request("PATCH", `/v1/admin/webhooks/${id}`, body);
    return [status, answered.fields?.[0]?.field ?? null];
  };
  expect(await change({ url: "https://elsewhere.example/a" })).toEqual([400, "signing_secret"]);
  expect(await change({ url: hook("/b") })).toEqual([200, null]);
  expect(await change({ url: "https://elsewhere.example/a", signing_secret: null })).toEqual([200, null]);
  expect(await read(id)).toMatchObject({ has_signing_secret: false, url_origin: "https://elsewhere.example" });
  expect(await change({ url: "ftp://elsewhere.example/a" })).toEqual([400, "url"]);
  expect(await change({ url: "https://me:secret@elsewhere.example/a" })).toEqual([400, "url"]);
  expect(await change({ signing_secret: "short" })).toEqual([400, "signing_secret"]);
  expect(await change({ events: [] })).toEqual([400, "events"]);
});
