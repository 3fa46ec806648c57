import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as FirstClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as FirstTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitationCompleteNotificationSchema, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { PortalTokens } from "../../../server/directory/people/portal/portal-tokens.ts";
import { systemClock } from "../../../server/kernel/clock.ts";
import { type AdminClient, rowOf, rowsOf, signInAsApprover } from "../../support/worlds/admin.ts";
import { newPerson, PASSWORD, portalClient, type PortalClient } from "../../support/worlds/portal.ts";
import { startHandshakeServer, startStatelessServer, type ToolServerFixture } from "../../support/tool-servers/tool-servers.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";
import { grant, newTeam, post, type Team, textOf } from "./mcp-harness.ts";

const JWT_SECRET = "the secret that signs these tokens";

let world: World;
let approver: AdminClient;
let old: ToolServerFixture;
let modern: ToolServerFixture;
let servers: Record<"old" | "modern" | "virtual", string>;
let idsOf: Record<string, string>;
/** By server ID. */
const configs: Record<string, string> = {};
let team: Team;
let neighbour: Team;

beforeAll(async () => {
  world = await startWorld({ GW_JWT_SECRET: JWT_SECRET });
  const { admin } = world;
  approver = await signInAsApprover(world.gateway.adminUrl, admin);
  old = startHandshakeServer();
  modern = startStatelessServer();
  team = await newTeam(admin, "askers");
  neighbour = await newTeam(admin, "neighbours");
  const ids = [];
  for (const [name, fixture] of [
    ["old", old],
    ["modern", modern],
  ] as const) {
    const { id } = await admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name, base_url: fixture.baseUrl });
    const config = await grant(admin, `${name} with approval`, id, [team.groupId, neighbour.groupId], {
      approval_required_tools: ["echo", "ask"],
      approval_timeout_seconds: 120,
    });
    configs[id] = config.id;
    ids.push(id);
  }
  const virtual = await admin.post("/v1/admin/virtual-servers", {
    tenant_id: "default",
    name: "both",
    mcp_server_ids: ids,
    group_ids: [team.groupId],
  });
  idsOf = { old: ids[0], new: ids[1] };
  const base = `${world.gateway.runtimeUrl}/v1/proxy`;
  servers = { old: `${base}/mcp/${ids[0]}`, modern: `${base}/mcp/${ids[1]}`, virtual: `${base}/vmcp/${virtual.id}` };
});
afterAll(async () => {
  await old.stop();
  await modern.stop();
  await world.end();
});

let asked = 0;
const URL_MODE = { elicitation: { url: {} } };
const idOf = (url: string) => /approvals\/([0-9a-f-]{36})\/page\?ticket=/.exec(url)?.[1] ?? "";
const resolve = (id: string, how: "approve" | "reject" = "approve") => approver.post(`/v1/admin/approvals/${id}/${how}`, {});
const call = (
  name: string,
  args: Record<string, unknown> = { text: `hi ${asked++}` },
  rest: Record<string, unknown> = {},
  capabilities: unknown = URL_MODE,
) => ({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: {
    name,
    arguments: args,
    ...rest,
    _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": capabilities },
  },
});
const calls = (fixture: ToolServerFixture) => fixture.seen.filter(({ body }) => body.includes('"tools/call"')).length;

/** Forbids the approved call at its server after it was admitted; resolves with a function that permits it again. */
async function forbidden(how: "disabled" | "denied", says: string): Promise<() => Promise<unknown>> {
  const { admin } = world;
  if (how === "disabled") {
    const config = `/v1/admin/server-configs/${configs[idsOf[says] ?? ""]}`;
    await admin.request("PATCH", config, { disabled_tools: ["echo"] });
    return () => admin.request("PATCH", config, { disabled_tools: [] });
  }
  const policy = { tenant_id: "default", name: `no ${asked++}`, target: "echo", argument_key: "text", analyzer: "sql" };
  const rules = [{ deny_if: "writes", message: "Reading only." }];
  const made = await admin.post("/v1/admin/argument-policies", { ...policy, rules, group_ids: [team.groupId] });
  return () => admin.request("DELETE", `/v1/admin/argument-policies/${made.id}`);
}

/** The second official client; URLs it is asked to open go to `open`, which returns the person's answer. */
async function secondClient(url: string, open: (params: any) => Promise<"accept" | "decline">, apiKey = team.apiKey): Promise<Client> {
  const client = new Client(
    { name: "second", version: "1" },
    { capabilities: URL_MODE, versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  client.setRequestHandler("elicitation/create", async ({ params }) => ({ action: await open(params) }));
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { "x-api-key": apiKey } } }));
  return client;
}

/** The first official client, with the notifications about finished elicitations. */
async function firstClient(
  url: string,
  open: (params: any) => Promise<"accept" | "decline">,
  capabilities: object = URL_MODE,
): Promise<{ client: FirstClient; completed: string[] }> {
  const client = new FirstClient({ name: "first", version: "1" }, { capabilities });
  const completed: string[] = [];
  if ("elicitation" in capabilities) client.setRequestHandler(ElicitRequestSchema, async ({ params }) => ({ action: await open(params) }));
  client.setNotificationHandler(ElicitationCompleteNotificationSchema, ({ params }) => void completed.push(params.elicitationId));
  await client.connect(new FirstTransport(new URL(url), { requestInit: { headers: { "x-api-key": team.apiKey } } }) as never);
  return { client, completed };
}

describe.each([
  ["a stateless server", "modern", "echo", "new", () => modern],
  ["a handshake server behind the bridge", "old", "echo", "old", () => old],
  ["a virtual server", "virtual", "modern__echo", "new", () => modern],
] as const)("a stateless client with URL elicitation, calling a tool that needs approval at %s", (_name, server, tool, says, fixture) => {
  test("gets the approval page's URL, and the call continues once approved", async () => {
    const before = calls(fixture());
    const shown: any[] = [];
    const client = await secondClient(servers[server], async (params) => {
      shown.push(params);
      await resolve(idOf(params.url));
      return "accept";
    });
    const answer = await client.callTool({ name: tool, arguments: { text: "approved" } });
    expect(textOf(answer)).toBe(`${says}: approved`);
    expect(shown).toHaveLength(1);
    expect(shown[0]).toMatchObject({ mode: "url", message: expect.stringContaining("echo") });
    expect(calls(fixture())).toBe(before + 1);
    const id = idOf(shown[0].url);
    const done = await rowOf(world.admin, { consumed_approval_request_id: id });
    expect([done.success, done.agent_authz_decision]).toEqual([true, "allow"]);
    await client.close();
  });

  test("waits while the approval is pending, and gets the approval error if the client declines to open the page", async () => {
    const message = call(tool);
    const first = await post(servers[server], team.apiKey, message);
    const { requestState, inputRequests, _meta } = first.body.result;
    const { url } = inputRequests.gateway_approval.params;
    expect([first.status, first.headers.get("x-gw-approval-id")]).toEqual([200, idOf(url)]);
    expect(_meta["dev.gatehouse/approval"]).toMatchObject({
      code: "approval_required",
      approval_id: idOf(url),
      status: "pending",
      poll: `/v1/portal/approvals/${idOf(url)}/poll`,
    });
    const declined = await post(servers[server], team.apiKey, {
      ...message,
      params: { ...message.params, requestState, inputResponses: { gateway_approval: { action: "decline" } } },
    });
    expect([declined.status, declined.body.error.code, declined.body.error.data.approval_id]).toEqual([200, 4030, idOf(url)]);
    const accepted = {
      ...message,
      params: { ...message.params, requestState, inputResponses: { gateway_approval: { action: "accept" } } },
    };
    const waiting = post(servers[server], team.apiKey, accepted);
    await resolve(idOf(url));
    expect((await waiting).body.result.content).toBeDefined();
    // The state is only valid with its approval, which has been used.
    const again = await Promise.all([post(servers[server], team.apiKey, accepted), post(servers[server], team.apiKey, accepted)]);
    for (const { status, body } of again) expect([status, body.error.data.code]).toEqual([403, "approval_token_invalid"]);
  });

  test("gets no result with other arguments, for another caller, or after a rejection", async () => {
    const message = call(tool);
    const { requestState, inputRequests } = (await post(servers[server], team.apiKey, message)).body.result;
    const id = idOf(inputRequests.gateway_approval.params.url);
    await resolve(id);
    const before = calls(fixture());
    const other = await post(servers[server], team.apiKey, call(tool, { text: "something else" }, { requestState }));
    expect(other.body.result.resultType).toBe("input_required");
    expect(idOf(other.body.result.inputRequests.gateway_approval.params.url)).not.toBe(id);
    if (server !== "virtual")
      expect(
        (await post(servers[server], neighbour.apiKey, { ...message, params: { ...message.params, requestState } })).body.result.resultType,
      ).toBe("input_required");
    expect(calls(fixture())).toBe(before);
    const all = await Promise.all(
      Array.from({ length: 6 }, () => post(servers[server], team.apiKey, { ...message, params: { ...message.params, requestState } })),
    );
    expect(all.filter(({ body }) => body.result !== undefined)).toHaveLength(1);
    expect(calls(fixture())).toBe(before + 1);

    const second = call(tool);
    const blocked = (await post(servers[server], team.apiKey, second)).body.result;
    await resolve(idOf(blocked.inputRequests.gateway_approval.params.url), "reject");
    const refused = await post(servers[server], team.apiKey, {
      ...second,
      params: { ...second.params, requestState: blocked.requestState },
    });
    expect([refused.status, refused.body.error.code, refused.body.error.data.code]).toEqual([403, 4031, "approval_rejected"]);
  });

  test.each(["disabled", "denied"] as const)("is refused after approval if the call was %s meanwhile", async (how) => {
    const before = calls(fixture());
    const message = call(tool, { text: `DROP TABLE t${asked++}` });
    const { requestState, inputRequests } = (await post(servers[server], team.apiKey, message)).body.result;
    const again = { ...message, params: { ...message.params, requestState } };
    const waiting = post(servers[server], team.apiKey, again);
    const undo = await forbidden(how, says);
    await resolve(idOf(inputRequests.gateway_approval.params.url));
    const refused = await waiting;
    await undo();
    expect(refused.body.error.data.code).toBe(how === "disabled" ? "tool_not_allowed" : "argument_policy_denied");
    expect(calls(fixture())).toBe(before);
    // The approval was not consumed: the call can use it once it is permitted again.
    expect(textOf((await post(servers[server], team.apiKey, again)).body.result)).toBe(`${says}: ${message.params.arguments.text}`);
  });

  test("gets the tool's own questions under the same approval", async () => {
    const ask = tool.replace("echo", "ask");
    const client = new Client(
      { name: "second", version: "1" },
      { capabilities: { elicitation: { form: {}, url: {} } }, versionNegotiation: { mode: { pin: "2026-07-28" } } },
    );
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      if (params.mode !== "url") return { action: "accept", content: { name: "Ada" } };
      await resolve(idOf(params.url));
      return { action: "accept" };
    });
    await client.connect(
      new StreamableHTTPClientTransport(new URL(servers[server]), { requestInit: { headers: { "x-api-key": team.apiKey } } }),
    );
    expect(textOf(await client.callTool({ name: ask, arguments: {} }))).toBe("hello Ada");
    await client.close();
  });
});

describe.each([
  ["a handshake server", "old", "echo", "old", () => old],
  ["a stateless server behind the bridge", "modern", "echo", "new", () => modern],
  ["a virtual server", "virtual", "old__echo", "old", () => old],
] as const)("a handshake client with URL elicitation, calling a tool that needs approval at %s", (_name, server, tool, says, fixture) => {
  test("gets the question on the stream of its call, which continues once approved", async () => {
    const before = calls(fixture());
    const shown: any[] = [];
    const { client, completed } = await firstClient(servers[server], async (params) => {
      shown.push(params);
      await resolve(idOf(params.url));
      return "accept";
    });
    expect(textOf(await client.callTool({ name: tool, arguments: { text: "approved" } }))).toBe(`${says}: approved`);
    expect(shown).toHaveLength(1);
    expect(shown[0]).toMatchObject({ mode: "url", elicitationId: idOf(shown[0].url) });
    expect(completed).toEqual([idOf(shown[0].url)]);
    expect(calls(fixture())).toBe(before + 1);
    const rows = await rowsOf(world.admin, { consumed_approval_request_id: idOf(shown[0].url) }, 1);
    expect([rows.length, rows[0].success, rows[0].proxy_subtype]).toEqual([1, true, "sse_stream"]);
    await client.close();
  });

  test.each(["disabled", "denied"] as const)("is refused after approval if the call was %s meanwhile", async (how) => {
    const { admin } = world;
    const before = calls(fixture());
    let undo = async (): Promise<unknown> => undefined;
    let id = "";
    const { client } = await firstClient(servers[server], async (params) => {
      id = idOf(params.url);
      undo = await forbidden(how, says);
      await resolve(id);
      return "accept";
    });
    const refused = await client.callTool({ name: tool, arguments: { text: "DROP TABLE t" } }).catch((error) => error);
    await undo();
    expect(refused.data?.code).toBe(how === "disabled" ? "tool_not_allowed" : "argument_policy_denied");
    expect(calls(fixture())).toBe(before);
    // The approval was not consumed: the call can use it once it is permitted again.
    expect(textOf(await client.callTool({ name: tool, arguments: { text: "DROP TABLE t" } }))).toBe(`${says}: DROP TABLE t`);
    expect((await rowOf(admin, { consumed_approval_request_id: id })).success).toBe(true);
    await client.close();
  });

  test("continues without consuming the approval if none is needed any more", async () => {
    const config = `/v1/admin/server-configs/${configs[idsOf[says] ?? ""]}`;
    let id = "";
    const { client } = await firstClient(servers[server], async (params) => {
      id = idOf(params.url);
      await world.admin.request("PATCH", config, { approval_required_tools: [] });
      await resolve(id);
      return "accept";
    });
    const text = `free of approval at ${server}`;
    expect(textOf(await client.callTool({ name: tool, arguments: { text } }))).toBe(`${says}: ${text}`);
    await world.admin.request("PATCH", config, { approval_required_tools: ["echo", "ask"] });
    const { request_metadata: metadata } = await world.admin.get(`/v1/admin/approvals/${id}`);
    const row = await rowOf(world.admin, { id: metadata.call_id });
    expect([row.success, row.agent_authz_decision, row.consumed_approval_request_id]).toEqual([true, null, null]);
    await client.close();
  });

  test("gets the approval error when it declines to open the page or the call is rejected", async () => {
    const before = calls(fixture());
    let open: (params: any) => Promise<"accept" | "decline"> = async () => "decline";
    const { client } = await firstClient(servers[server], (params) => open(params));
    const declined = await client.callTool({ name: tool, arguments: { text: "declined" } }).catch((error) => error);
    expect([declined.code, declined.data]).toEqual([4030, expect.objectContaining({ code: "approval_required", status: "pending" })]);
    open = async (params) => {
      await resolve(idOf(params.url), "reject");
      return "accept";
    };
    const rejected = await client.callTool({ name: tool, arguments: { text: "rejected" } }).catch((error) => error);
    expect([rejected.code, rejected.data.code]).toEqual([4031, "approval_rejected"]);
    expect(calls(fixture())).toBe(before);
    await client.close();
  });

  test("can repeat an interrupted call in the same session once it is approved, and no other session can", async () => {
    let id = "";
    const { client } = await firstClient(servers[server], async (params) => {
      id = idOf(params.url);
      stop.abort("enough");
      return "accept";
    });
    const stop = new AbortController();
    const given = { name: tool, arguments: { text: "later" } };
    await client.callTool(given, undefined, { signal: stop.signal }).catch(() => undefined);
    await rowOf(world.admin, { mcp_capability_name: tool, server_id: idsOf[says], error_type: "upstream_interrupted" });
    const before = calls(fixture());
    await resolve(id);
    const stranger = await firstClient(servers[server], async () => "decline");
    expect(await stranger.client.callTool(given).catch(({ code }) => code)).toBe(4030);
    expect(calls(fixture())).toBe(before);
    expect(textOf(await client.callTool(given))).toBe(`${says}: later`);
    expect(calls(fixture())).toBe(before + 1);
    await Promise.all([client.close(), stranger.client.close()]);
  });

  test("gets the error alone without the elicitation capability", async () => {
    const { client } = await firstClient(servers[server], async () => "accept", {});
    const blocked = await client.callTool({ name: tool, arguments: { text: "plain" } }).catch((error) => error);
    expect([blocked.code, blocked.data.code]).toEqual([4030, "approval_required"]);
    await client.close();
  });
});

test("a call waiting for approval continues although its caller's token expires meanwhile", async () => {
  const person = await newPerson(world.gateway.runtimeUrl, "patient");
  await world.admin.request("PATCH", `/v1/admin/end-users/${person.id}/primary-group`, { group_id: team.groupId });
  const send = async (token: string | null, message: object) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", accept: "application/json, text/event-stream" };
    return (await fetch(servers.modern, { method: "POST", headers, body: JSON.stringify(message) })).json() as Promise<any>;
  };
  const message = call("echo");
  const { requestState, inputRequests } = (await send(person.token, message)).result;
  const tokens = new PortalTokens({ secret: JWT_SECRET, expirySeconds: 8, clock: systemClock() });
  const holder = { id: person.id, tenant_id: "default", username: "patient", email: null, tokens_valid_from: new Date(0) };
  const token = await tokens.issue(holder);
  const answer = send(token, { ...message, params: { ...message.params, requestState } });
  const late = portalClient(world.gateway.runtimeUrl, token);
  await until(
    () => late.request("GET", "/approvals"),
    ({ status }) => status === 401,
  );
  await resolve(idOf(inputRequests.gateway_approval.params.url));
  expect((await answer).result?.content).toBeDefined();
});

describe("the approval page", () => {
  let address: string;
  let id: string;
  let colleague: PortalClient & { readonly id: string };

  beforeAll(async () => {
    colleague = await newPerson(world.gateway.runtimeUrl, "colleague");
    await newPerson(world.gateway.runtimeUrl, "outsider");
    await world.admin.request("PATCH", `/v1/admin/end-users/${colleague.id}/primary-group`, { group_id: team.groupId });
    address = (await post(servers.modern, team.apiKey, call("echo", { text: "the secret plan" }))).body.result.inputRequests
      .gateway_approval.params.url;
    id = idOf(address);
  });

  const decide = (form: Record<string, string>, ticket = new URL(address).searchParams.get("ticket") ?? "") =>
    fetch(`${address.split("?")[0]}?${new URLSearchParams({ ticket, decide: "1" })}`, { method: "POST", body: new URLSearchParams(form) });

  test("shows the approval's status without the arguments, only at its exact URL", async () => {
    const response = await fetch(address);
    const text = await response.text();
    expect([response.status, response.headers.get("content-type"), response.headers.get("x-frame-options")]).toEqual([
      200,
      "text/html; charset=utf-8",
      "DENY",
    ]);
    expect(text).toContain("Nobody has decided yet");
    expect(text).toContain("askers key");
    expect(text).not.toContain("secret plan");
    for (const wrong of [address.split("?")[0] as string, `${address}A`, address.replace(id, "00000000-0000-4000-8000-000000000000")])
      expect((await fetch(wrong)).status).toBe(404);
    expect(await (await fetch(`${address}&decide=1`)).text()).toContain('name="password"');
  });

  test("refuses a decision with wrong credentials or without permission, and gives no reason", async () => {
    const answers = await Promise.all([
      decide({ username: "colleague", password: "wrong password", decision: "approve" }),
      decide({ username: "nobody", password: "x", decision: "approve" }),
      decide({ username: "outsider", password: PASSWORD, decision: "approve" }),
      decide({ username: "colleague", password: PASSWORD }),
      decide({ username: "colleague", password: PASSWORD, decision: "approve" }, "v1.AAAA.BBBB"),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 404, 400, 404]);
    for (const answer of answers) expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
    const back = /href="([^"]+)"/.exec(await answers[0].text())?.[1]?.replaceAll("&amp;", "&");
    expect(await (await fetch(new URL(back ?? "nowhere", address))).text()).toContain('name="password"');
    expect(await world.admin.get(`/v1/admin/approvals/${id}`)).toMatchObject({ status: "pending" });
  });

  test("refuses a decision with a password set by somebody else", async () => {
    const set = (must_change_password: boolean) =>
      world.admin.request("PATCH", `/v1/admin/end-users/${colleague.id}`, { must_change_password });
    await set(true);
    for (const decision of ["approve", "reject"]) {
      const answer = await decide({ username: "colleague", password: PASSWORD, decision });
      expect([answer.status, await answer.text()]).toEqual([403, expect.stringContaining("password")]);
    }
    expect(await world.admin.get(`/v1/admin/approvals/${id}`)).toMatchObject({ status: "pending" });
    const row = { proxy_subtype: "approval_page", gateway_user_id: colleague.id, error_type: "password_change_required" };
    expect((await rowOf(world.admin, row)).success).toBe(false);
    await set(false);
  });

  test("refuses NUL characters and a note that is too long", async () => {
    const answers = await Promise.all([
      decide({ username: "a\0b", password: "x", decision: "approve" }),
      decide({ username: "colleague", password: PASSWORD, decision: "approve", note: "a\0b" }),
      decide({ username: "colleague", password: PASSWORD, decision: "approve", note: "x".repeat(4_001) }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400]);
  });

  test("is not found while its tenant is disabled", async () => {
    await world.admin.post("/v1/admin/tenants", { id: "closing", name: "Closing" });
    const closing = await newTeam(world.admin, "closing", {}, "closing");
    const server = await world.admin.post("/v1/admin/mcp-servers", { tenant_id: "closing", name: "modern", base_url: modern.baseUrl });
    await world.admin.post("/v1/admin/server-configs", {
      tenant_id: "closing",
      mcp_server_id: server.id,
      name: "marked",
      group_ids: [closing.groupId],
      enabled: true,
      approval_required_tools: ["echo"],
    });
    const blocked = await post(`${world.gateway.runtimeUrl}/v1/proxy/mcp/${server.id}`, closing.apiKey, call("echo"));
    const page = blocked.body.result.inputRequests.gateway_approval.params.url as string;
    expect((await fetch(page)).status).toBe(200);
    await world.admin.request("PATCH", "/v1/admin/tenants/closing", { enabled: false });
    expect((await fetch(page)).status).toBe(404);
  });

  test("lets a colleague approve once with their own password, which is not in the row", async () => {
    const note = "go ".repeat(1_333).trim();
    const approved = await decide({ username: "colleague", password: PASSWORD, decision: "approve", note });
    expect([approved.status, (await approved.text()).includes("It was approved")]).toEqual([200, true]);
    expect(await world.admin.get(`/v1/admin/approvals/${id}`)).toMatchObject({
      status: "approved",
      resolved_by: "colleague",
      resolution_note: note,
    });
    expect(await (await decide({ username: "colleague", password: PASSWORD, decision: "reject" })).text()).toContain("It was approved");
    const row = await rowOf(world.admin, { proxy_subtype: "approval_page", gateway_user_id: colleague.id, success: true });
    expect([row.is_auth_event, row.tenant_id]).toEqual([true, "default"]);
    expect(JSON.stringify(await rowsOf(world.admin, { proxy_subtype: "approval_page" }, 1))).not.toContain(PASSWORD);
  });
});
