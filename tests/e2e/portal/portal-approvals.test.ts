import { afterAll, beforeAll, expect, test } from "bun:test";
import { rowOf, signIn } from "../../support/worlds/admin.ts";
import { newPerson, type PortalClient } from "../../support/worlds/portal.ts";
import { startStatelessServer, type ToolServerFixture } from "../../support/tool-servers/tool-servers.ts";
import { startWorld, type World } from "../../support/world.ts";
import { grant, newTeam, stateless, type Team } from "../tools/mcp-harness.ts";

type Person = PortalClient & { readonly id: string };

let world: World;
let tools: ToolServerFixture;
let team: Team;
let server: string;
let configId: string;
let asker: Person;
let colleague: Person;
let outsider: Person;

beforeAll(async () => {
  world = await startWorld();
  const { admin, gateway } = world;
  tools = startStatelessServer();
  team = await newTeam(admin, "askers");
  const { id } = await admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: "tools", base_url: tools.baseUrl });
  configId = (
    await grant(admin, "tools for askers", id, [team.groupId], { approval_required_tools: ["echo"], priority: 5, display_name: "Tools" })
  ).id;
  server = `${gateway.runtimeUrl}/v1/proxy/mcp/${id}`;
  asker = await newPerson(gateway.runtimeUrl, "asker");
  colleague = await newPerson(gateway.runtimeUrl, "colleague");
  outsider = await newPerson(gateway.runtimeUrl, "outsider");
  for (const person of [asker, colleague])
    await admin.request("PATCH", `/v1/admin/end-users/${person.id}/primary-group`, { group_id: team.groupId });
});
afterAll(async () => {
  await tools.stop();
  await world.end();
});

let asked = 0;
const message = (given = { text: `hi ${asked++}` }) => stateless(1, "tools/call", { name: "echo", arguments: given });

async function callTool(body: unknown, credential: Record<string, string>, more: Record<string, string> = {}) {
  const response = await fetch(server, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...credential, ...more },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const data = response.headers.get("content-type")?.startsWith("text/event-stream")
    ? text
        .split("\n")
        .findLast((line) => line.startsWith("data:"))
        ?.slice(5)
    : text;
  return { status: response.status, headers: response.headers, body: JSON.parse(data ?? "null") };
}

const bearer = (person: PortalClient) => ({ authorization: `Bearer ${person.token}` });

test("a held tool call of one person is approved by another and goes through once", async () => {
  const given = { text: "with approval" };
  const body = message(given);
  const blocked = await callTool(body, bearer(asker));
  const id = blocked.headers.get("x-gw-approval-id") as string;
  expect([blocked.status, blocked.body.error.data.poll]).toEqual([200, `/v1/portal/approvals/${id}/poll`]);

  expect((await asker.request("GET", `/approvals/${id}/poll`)).body).toMatchObject({ id, status: "pending" });
  expect((await colleague.request("GET", "/approvals/pending-count")).body.pending_count).toBeGreaterThan(0);
  const listed = (await colleague.request("GET", "/approvals?status=pending")).body;
  expect(listed.approvals.find((one: { id: string }) => one.id === id)).toMatchObject({
    capability_name: "echo",
    server_name: "tools",
    requester_type: "user",
    requester_display: "asker",
    requester_group_id: team.groupId,
    status: "pending",
    call_arguments: given,
    server_config_id: configId,
    may_resolve: true,
    may_approve: true,
  });
  expect((await asker.request("GET", `/approvals/${id}`)).body.may_resolve).toBe(false);
  expect((await asker.request("GET", "/approvals?status=pending")).body.approvals[0]).toMatchObject({ id, may_resolve: false });
  expect((await asker.request("GET", "/approvals/pending-count")).body).toEqual({ pending_count: 0 });
  expect((await colleague.request("GET", "/notifications?notification_type=approval_requested")).body.notifications[0]).toMatchObject({
    metadata: { approval_id: id, requester_display: "asker", capability_name: "echo" },
    title: "Approval needed: echo",
  });
  expect((await asker.request("GET", "/notifications?notification_type=approval_requested")).body.total).toBe(0);

  expect((await asker.request("POST", `/approvals/${id}/approve`, {})).status).toBe(403);
  for (const path of ["", "/poll"]) expect((await outsider.request("GET", `/approvals/${id}${path}`)).status).toBe(404);
  expect((await outsider.request("POST", `/approvals/${id}/approve`, {})).status).toBe(404);
  expect((await outsider.request("GET", "/approvals")).body).toMatchObject({ approvals: [], total: 0 });

  const approved = await colleague.request("POST", `/approvals/${id}/approve`, { note: "go on" });
  const { approval_token: issued } = approved.body;
  expect(approved.body).toMatchObject({
    id,
    status: "approved",
    resolved_by: "colleague",
    approval_token: expect.any(String),
    message: expect.any(String),
  });
  expect((await colleague.request("POST", `/approvals/${id}/reject`, {})).status).toBe(409);
  expect((await colleague.request("GET", `/approvals/${id}/poll`)).body.approval_token).toBe(issued);
  expect((await asker.request("GET", "/notifications?notification_type=approval_resolved")).body.notifications[0]).toMatchObject({
    title: "Approved: echo",
    metadata: { approval_id: id, status: "approved", resolved: true, resolved_by: "colleague" },
  });

  const toDo = (await colleague.request("GET", "/notifications?notification_type=approval_requested")).body.notifications;
  expect(toDo.filter((one: { metadata: { approval_id: string } }) => one.metadata.approval_id === id)).toEqual([]);

  const { approval_token: token } = (await asker.request("GET", `/approvals/${id}/poll`)).body;
  expect((await callTool(body, bearer(colleague), { "x-approval-token": token })).status).toBe(403);
  const through = await callTool(body, bearer(asker), { "x-approval-token": token });
  expect([through.status, through.body.result.content[0].text]).toEqual([200, expect.stringContaining("with approval")]);
  expect(await rowOf(world.admin, { consumed_approval_request_id: id })).toMatchObject({
    gateway_user_id: asker.id,
    api_key_id: null,
    proxy_type: "mcp",
  });
  expect((await callTool(body, bearer(asker), { "x-approval-token": token })).status).toBe(403);
  const rows = JSON.stringify(await world.admin.post("/v1/admin/proxy-logs/query", { page_size: 200 }));
  expect(rows).not.toContain(token);
});

test("an API key polls its own approval request, and a person rejects it", async () => {
  const blocked = await callTool(message(), { "x-api-key": team.apiKey });
  const id = blocked.headers.get("x-gw-approval-id") as string;
  const poll = () =>
    fetch(`${world.gateway.runtimeUrl}/v1/portal/approvals/${id}/poll`, { headers: { "x-api-key": team.apiKey } }).then((reply) =>
      reply.json(),
    );
  expect(await poll()).toMatchObject({ id, status: "pending" });
  const rejected = await colleague.request("POST", `/approvals/${id}/reject`, { note: "no" });
  expect([rejected.status, rejected.body.status, "approval_token" in rejected.body]).toEqual([200, "rejected", false]);
  expect(await poll()).toEqual({ id, status: "rejected", expires_at: expect.any(String) });
  expect((await colleague.request("GET", `/approvals/${id}`)).body).toMatchObject({ resolution_note: "no", resolved_by: "colleague" });
});

test("a person who is also an administrator cannot approve their own requests, even after changing their email address", async () => {
  const [runtime, password] = [world.gateway.runtimeUrl, "a long enough password"];
  const account = { username: "carol-adm", email: "Carol@example.com", password, role: "owner", tenant_id: "default" };
  await world.admin.post("/v1/admin/admin-users", account);
  const admin = await signIn(world.gateway.adminUrl, { username: account.username, password, tenant_id: "default" }, "tenant");
  const carol = await newPerson(runtime, "carol");
  await world.admin.request("PATCH", `/v1/admin/end-users/${carol.id}/primary-group`, { group_id: team.groupId });
  const own = await admin.post(`/v1/admin/resource-groups/${team.groupId}/api-keys`, { name: "of carol", access_mode: "shared" });
  const ask = async (credential: Record<string, string>) =>
    (await callTool(message(), credential)).headers.get("x-gw-approval-id") as string;
  const asPerson = (id: string) => carol.request("POST", `/approvals/${id}/approve`, {});
  const asAdmin = (id: string) => admin.request("POST", `/v1/admin/approvals/${id}/approve`, {});

  expect((await carol.request("PATCH", "/auth/profile", { email: "carol@EXAMPLE.com" })).status).toBe(200);
  const portal = await openPortal(carol);
  const [mine, ofKey, ofAsker] = [await ask(bearer(carol)), await ask({ "x-api-key": own.key }), await ask(bearer(asker))];
  const listed = (await carol.request("GET", "/approvals?status=pending")).body.approvals as { id: string; may_approve: boolean }[];
  const approvable = listed.filter((one) => one.may_approve).length;
  expect((await carol.request("GET", "/approvals/pending-count")).body).toEqual({ pending_count: approvable });
  for (const [id, may_resolve, may_approve] of [
    [mine, false, false],
    [ofKey, true, false],
    [ofAsker, true, true],
  ] as const) {
    expect(listed.find((one) => one.id === id)).toMatchObject({ may_resolve, may_approve });
    expect((await carol.request("GET", `/approvals/${id}`)).body).toMatchObject({ may_resolve, may_approve });
    expect(await portal.until("approval", `"id":"${id}"`)).toMatchObject({ may_resolve, may_approve });
  }
  portal.close();
  for (const email of ["another@example.com", null]) {
    expect((await carol.request("PATCH", "/auth/profile", { email })).body.email).toBe(email);
    expect([(await asAdmin(mine)).status, (await asPerson(ofKey)).status]).toEqual([403, 403]);
  }
  expect((await asAdmin(await ask(bearer(carol)))).status).toBe(403);
  expect([(await asPerson(ofAsker)).status, (await asAdmin(await ask(bearer(asker)))).status]).toEqual([200, 200]);
});

/** Opens a person's portal event stream: `until` resolves with the first event of this name that contains all these texts. */
async function openPortal(person: PortalClient) {
  const abort = new AbortController();
  const response = await fetch(`${world.gateway.runtimeUrl}/v1/portal/events`, { headers: bearer(person), signal: abort.signal });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let text = "";
  // Events about earlier approvals may arrive here as well.
  const until = async (event: string, ...told: string[]): Promise<unknown> => {
    for (;;) {
      const frames = text.split("\n\n").slice(0, -1);
      const found = frames.find((frame) => frame.startsWith(`event: ${event}\n`) && told.every((part) => frame.includes(part)));
      if (found !== undefined) return JSON.parse(found.slice(found.indexOf("data: ") + "data: ".length));
      const { done, value } = await reader.read();
      if (done) throw new Error(`the stream ended before ${event}: ${text}`);
      text += new TextDecoder().decode(value);
      if (text.includes("event: resync")) throw new Error(`something was missed before ${event}: ${text}`);
    }
  };
  await until("ready");
  return { until, close: () => abort.abort() };
}

test("new and resolved approvals reach the open portals of those concerned, as their lists show them", async () => {
  const [portal, own] = await Promise.all([openPortal(colleague), openPortal(asker)]);
  const id = (await callTool(message(), bearer(asker))).headers.get("x-gw-approval-id");
  for (const [person, { until }] of [
    [colleague, portal],
    [asker, own],
  ] as const)
    expect(await until("approval", `"id":"${id}"`, '"status":"pending"')).toEqual((await person.request("GET", `/approvals/${id}`)).body);
  await portal.until("notification", `"approval_id":"${id}"`);
  await colleague.request("POST", `/approvals/${id}/reject`, {});
  await portal.until("approval", `"id":"${id}"`, '"status":"rejected"');
  for (const { close } of [portal, own]) close();
});

test("the tool servers of a person's group are listed with the fields the portal shows", async () => {
  const { body } = await asker.request("GET", "/servers");
  expect(body.total).toBe(1);
  expect(body.servers[0]).toMatchObject({
    id: configId,
    name: "tools for askers",
    display_name: "Tools",
    enabled: true,
    priority: 5,
    icon_url: null,
    is_default: false,
    mcp_server: { name: "tools", enabled: true, auth_type: "none", timeout_seconds: 30 },
    oauth_client: null,
  });
  expect((await asker.request("GET", `/servers/${configId}`)).body).toEqual(body.servers[0]);
  expect((await outsider.request("GET", `/servers/${configId}`)).status).toBe(404);
  expect((await outsider.request("GET", "/servers")).body).toEqual({ servers: [], total: 0 });

  const child = await world.admin.post("/v1/admin/resource-groups", { name: "child", parent_group_id: team.groupId });
  await world.admin.request("PATCH", `/v1/admin/end-users/${outsider.id}/primary-group`, { group_id: child.id });
  expect((await outsider.request("GET", `/servers/by-group/${child.id}`)).body.total).toBe(1);
  expect((await outsider.request("GET", `/servers/by-group/${child.id}?include_inherited=false`)).body.total).toBe(0);
  expect((await outsider.request("GET", `/servers/by-group/${team.groupId}`)).status).toBe(403);
});

test("a tool's UI page reads only its own server's resources through the portal", async () => {
  const seen: string[] = [];
  const apps = Bun.serve({
    port: 0,
    async fetch(request) {
      if (request.method === "GET") return new Response(null, { status: 405 });
      const { id, method, params } = (await request.json()) as any;
      seen.push(`${method} ${request.headers.get("authorization")}`);
      const answer =
        method === "server/discover"
          ? { result: { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: { resources: {} }, _meta: {} } }
          : method !== "resources/read"
            ? { result: { resultType: "complete", tools: [], resources: [], prompts: [], resourceTemplates: [] } }
            : params.uri === "ui://clock"
              ? {
                  result: {
                    resultType: "complete",
                    contents: [
                      {
                        uri: "ui://clock",
                        mimeType: "text/html;profile=mcp-app",
                        text: "<p>ü</p>",
                        _meta: { ui: { prefersBorder: true } },
                      },
                    ],
                  },
                }
              : { error: { code: -32602, message: "no such resource" } };
      const text = JSON.stringify({ jsonrpc: "2.0", id, ...answer });
      // A server may also answer with a stream.
      return params?.uri === "ui://streamed"
        ? new Response(`: hello\n\ndata: ${text.replace("no such", "no")}\n\n`, { headers: { "content-type": "text/event-stream" } })
        : new Response(text, { headers: { "content-type": "application/json" } });
    },
  });
  const { id } = await world.admin.post("/v1/admin/mcp-servers", {
    tenant_id: "default",
    name: "apps",
    base_url: `http://127.0.0.1:${apps.port}`,
  });
  await grant(world.admin, "apps for askers", id, [team.groupId]);
  const read = (uri: string, who = asker) => who.request("GET", `/mcp-apps/${id}/resource?uri=${encodeURIComponent(uri)}`);
  const found = await read("ui://clock");
  expect([found.status, found.body]).toEqual([
    200,
    {
      uri: "ui://clock",
      content: "<p>ü</p>",
      mime_type: "text/html;profile=mcp-app",
      size_bytes: 9,
      _meta: { ui: { prefersBorder: true } },
    },
  ]);
  expect(await rowOf(world.admin, { correlation_id: found.headers.get("x-correlation-id") })).toMatchObject({
    proxy_type: "portal",
    proxy_subtype: "mcp_app_resource",
    mcp_method: "resources/read",
    mcp_capability_name: "ui://clock",
    server_id: id,
    gateway_user_id: asker.id,
    response_body_preview: null,
  });
  expect([(await read("ui://nothing")).status, (await read("ui://streamed")).status]).toEqual([404, 404]);
  expect((await read("file:///etc/passwd")).body.fields[0].field).toBe("uri");
  expect((await asker.request("GET", `/mcp-apps/no-such-server/resource?uri=ui://clock`)).status).toBe(404);
  const stranger = await newPerson(world.gateway.runtimeUrl, "stranger");
  expect((await read("ui://clock", stranger)).status).toBe(403);
  expect(seen.filter((line) => !line.endsWith("null"))).toEqual([]);
  await apps.stop(true);
});
