import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type AdminClient, rowOf, rowsOf, signIn, signInAsApprover } from "../../support/worlds/admin.ts";
import { ADMIN_PASSWORD } from "../../support/gateway.ts";
import { logIn, PASSWORD } from "../../support/worlds/portal.ts";
import { startHandshakeServer, startStatelessServer, type ToolServerFixture } from "../../support/tool-servers/tool-servers.ts";
import { startWorld, type World } from "../../support/world.ts";
import { grant, newTeam, post, stateless, statelessClient, type Team } from "./mcp-harness.ts";

let world: World;
let old: ToolServerFixture;
let modern: ToolServerFixture;
let servers: Record<"old" | "modern" | "virtual", string>;
let team: Team;
let approver: AdminClient;
let neighbour: Team;

beforeAll(async () => {
  world = await startWorld();
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
    await grant(admin, `${name} with approval`, id, [team.groupId, neighbour.groupId], {
      approval_required_tools: ["echo", "ask"],
      approval_timeout_seconds: 120,
    });
    ids.push(id);
  }
  const virtual = await admin.post("/v1/admin/virtual-servers", {
    tenant_id: "default",
    name: "both",
    mcp_server_ids: ids,
    group_ids: [team.groupId],
  });
  const base = `${world.gateway.runtimeUrl}/v1/proxy`;
  servers = { old: `${base}/mcp/${ids[0]}`, modern: `${base}/mcp/${ids[1]}`, virtual: `${base}/vmcp/${virtual.id}` };
});
afterAll(async () => {
  await old.stop();
  await modern.stop();
  await world.end();
});

let asked = 0;
const call = (name: string, text = `hi ${asked++}`) => stateless(1, "tools/call", { name, arguments: { text } });

async function blocked(url: string, message: ReturnType<typeof call>, who = team) {
  const answer = await post(url, who.apiKey, message);
  return { answer, id: answer.body.error.data.approval_id as string };
}

async function approve(id: string): Promise<string> {
  return (await approver.post(`/v1/admin/approvals/${id}/approve`, { note: "fine" })).approval_token;
}

const calls = (fixture: ToolServerFixture) => fixture.seen.filter(({ body }) => body.includes('"tools/call"')).length;

describe.each([
  ["a stateless server", "modern", "echo", () => modern],
  ["a handshake server behind the bridge", "old", "echo", () => old],
  ["a virtual server", "virtual", "modern__echo", () => modern],
] as const)("a tool that needs approval at %s", (_name, server, tool, fixture) => {
  test("is blocked with an approval request in the error, and is not called", async () => {
    const before = calls(fixture());
    const { answer, id } = await blocked(servers[server], call(tool));
    expect([answer.status, answer.headers.get("x-gw-approval-id"), answer.body.id]).toEqual([200, id, 1]);
    expect(answer.body.error).toMatchObject({
      code: 4030,
      data: { code: "approval_required", status: "pending", poll: `/v1/portal/approvals/${id}/poll` },
    });
    expect(calls(fixture())).toBe(before);
    const row = await rowOf(world.admin, { proxy_subtype: "approval_required", mcp_capability_name: tool });
    expect([row.success, row.error_type, row.agent_authz_decision]).toEqual([false, "approval_required", "approval_required"]);
    const record = await world.admin.get(`/v1/admin/approvals/${id}`);
    expect(record).toMatchObject({
      status: "pending",
      capability_name: "echo",
      capability_type: "tool",
      requester_group_id: team.groupId,
      timeout_seconds: 120,
    });
  });

  test("is called once with the approval token, and the row names the approval", async () => {
    const message = call(tool);
    const { id } = await blocked(servers[server], message);
    const token = await approve(id);
    const before = calls(fixture());
    const spaced = `{"id":9,"params":{"arguments":{ "text" : ${JSON.stringify(message.params["arguments" as never]["text" as never])} },"name":"${tool}","_meta":${JSON.stringify(message.params._meta)}},"method":"tools/call","jsonrpc":"2.0"}`;
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, () => post(servers[server], team.apiKey, spaced, { "x-approval-token": token })),
    );
    expect(outcomes.filter(({ body }) => body.result !== undefined)).toHaveLength(1);
    expect(outcomes.filter(({ status, body }) => status === 403 && body.error.data.code === "approval_token_invalid")).toHaveLength(7);
    expect(calls(fixture())).toBe(before + 1);
    const rows = await rowsOf(world.admin, { consumed_approval_request_id: id }, 1);
    expect([rows.length, rows[0].success, rows[0].agent_authz_decision]).toEqual([1, true, "allow"]);
    expect(JSON.stringify(rows)).not.toContain(token);
  });
});

/** Arguments with another spelling, or with one byte of their content changed. */
const TRIES = Number(process.env.APPROVAL_SPELLINGS ?? 12);

test("an approval covers any JSON spelling of the same arguments, and no change of their content", async () => {
  const { _meta } = stateless(1, "tools/call").params;
  const body = (given: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":${given},"_meta":${JSON.stringify(_meta)}}}`;
  for (let at = 0; at < TRIES; at++) {
    const text = `pay ${at} of ${asked++}`;
    const given = `{"text":${JSON.stringify(text)},"amount":1234567890123456789${at % 10},"to":{"iban":"x${at}","note":"n"}}`;
    const held = await post(servers.modern, team.apiKey, body(given));
    const token = await approve(held.body.error.data.approval_id);
    const before = calls(modern);
    const changed = [
      given.replace('"n"', '"m"'),
      given.replace('"n"', '"n "'),
      given.replace('"note"', '"Note"'),
      given.replace(/(\d)\d,"to"/, '$17,"to"').replace("1234567890", at % 10 === 7 ? "1234567891" : "1234567890"),
      given.replace(/"amount":(\d+)/, '"amount":"$1"'),
      given.replace('{"iban"', '{"more":null,"iban"'),
    ];
    for (const other of changed) {
      expect(other).not.toBe(given);
      const answer = await post(servers.modern, team.apiKey, body(other), { "x-approval-token": token });
      expect([answer.status, answer.body.error?.data.code]).toEqual([403, "approval_token_invalid"]);
    }
    expect(calls(modern)).toBe(before);
    const respelled = `{ "to" : {"note":"\\u006e", "iban":"x${at}"},\n"amount":1234567890123456789${at % 10}.0 ,"text":${JSON.stringify(text)}}`;
    expect((await post(servers.modern, team.apiKey, body(respelled), { "x-approval-token": token })).body.result.content[0].text).toBe(
      `new: ${text}`,
    );
    expect((await post(servers.modern, team.apiKey, body(given), { "x-approval-token": token })).body.error.data.code).toBe(
      "approval_token_invalid",
    );
  }
});

test("an approver sees the exact digits and bytes of the arguments", async () => {
  const { _meta } = stateless(1, "tools/call").params;
  const given = `{ "account": 12345678901234567890, "rate": 0.10000000000000000001, "huge": 1e400, "text": "a\\u0000b ${asked++}", "same": 1.50 }`;
  const held = await post(
    servers.modern,
    team.apiKey,
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":${given},"_meta":${JSON.stringify(_meta)}}}`,
  );
  const id = held.body.error.data.approval_id;
  expect((await world.admin.get(`/v1/admin/approvals/${id}`)).call_arguments_text).toBe(given);
  const read = await fetch(`${world.gateway.adminUrl}/v1/admin/approvals/${id}`, {
    headers: { authorization: `Bearer ${world.admin.token}` },
  });
  expect(await read.text()).toContain(
    '"call_arguments":{"account":12345678901234567890,"rate":0.10000000000000000001,"huge":1e400,"text":"a\\u0000b',
  );
});

test("an approval token is refused for other arguments, another caller, another tool, or after a rejection", async () => {
  const message = call("echo");
  const { id } = await blocked(servers.modern, message);
  const token = await approve(id);
  const before = calls(modern);
  const tries = [
    post(servers.modern, team.apiKey, call("echo", "something else"), { "x-approval-token": token }),
    post(servers.modern, neighbour.apiKey, message, { "x-approval-token": token }),
    post(servers.old, team.apiKey, message, { "x-approval-token": token }),
    post(servers.modern, team.apiKey, message, { "x-approval-token": `${token}0` }),
  ];
  for (const answer of await Promise.all(tries))
    expect([answer.status, answer.body.error.code, answer.body.error.data.code]).toEqual([403, 4031, "approval_token_invalid"]);
  expect(calls(modern)).toBe(before);
  expect((await post(servers.modern, team.apiKey, message, { "x-approval-token": token })).body.result).toBeDefined();

  const refused = await blocked(servers.modern, call("echo"));
  expect(await world.admin.post(`/v1/admin/approvals/${refused.id}/reject`, { note: "no" })).toMatchObject({ status: "rejected" });
  const again = await approver.request("POST", `/v1/admin/approvals/${refused.id}/approve`, {});
  expect([again.status, again.body.code]).toEqual([409, "approval_not_pending"]);
});

test("whoever created or rotated the key of a call cannot approve it, on either plane", async () => {
  const { admin, gateway } = world;
  const { id: key } = (await admin.get(`/v1/admin/api-keys?tenant_id=default&resource_group_id=${team.groupId}`)).api_keys[0];
  const { id } = await blocked(servers.modern, call("echo"));
  const path = `/v1/admin/approvals/${id}`;
  expect((await admin.get(path)).request_metadata).toMatchObject({ api_key_id: key });
  const refused = { status: 403, body: { code: "forbidden" } };
  expect(await admin.request("POST", `${path}/approve`, {})).toMatchObject(refused);

  // The same people in the portal: one shares the requester's username, the other the email address of whoever rotated the key.
  const second = { tenant_id: "default", username: "key-rotator", password: ADMIN_PASSWORD, email: "Rotator@example.org" };
  await admin.post("/v1/admin/admin-users", { ...second, role: "admin" });
  const rotator = await signIn(gateway.adminUrl, { tenant_id: "default", username: second.username, password: ADMIN_PASSWORD }, "tenant");
  await rotator.post(`/v1/admin/api-keys/${key}/rotate`, { grace_seconds: 3600 });
  expect(await rotator.request("POST", `${path}/approve`, {})).toMatchObject(refused);
  const inPortal = async (username: string, email: string) => {
    await admin.post("/v1/admin/end-users", { tenant_id: "default", username, email, password: PASSWORD, primary_group_id: team.groupId });
    return logIn(gateway.runtimeUrl, username);
  };
  for (const [username, email] of [
    ["admin", "somebody@example.org"],
    ["rob", "rotator@EXAMPLE.org"],
  ] as const)
    expect(await (await inPortal(username, email)).request("POST", `/approvals/${id}/approve`, {})).toMatchObject({ status: 403 });
  expect((await admin.get(path)).status).toBe("pending");
  const other = await inPortal("olga", "olga@example.org");
  expect((await other.request("POST", `/approvals/${id}/approve`, {})).status).toBe(200);

  // They may still reject.
  const unwanted = await blocked(servers.modern, call("echo"));
  expect(await admin.post(`/v1/admin/approvals/${unwanted.id}/reject`, {})).toMatchObject({ status: "rejected" });
});

test("the owner of the key of a call cannot approve it as an administrator", async () => {
  const { admin, gateway } = world;
  const { user } = await admin.post("/v1/admin/end-users", {
    tenant_id: "default",
    username: "owner-of-a-key",
    email: "owner@example.org",
    password: PASSWORD,
    primary_group_id: team.groupId,
  });
  const { key_value: apiKey } = await approver.post(`/v1/admin/resource-groups/${team.groupId}/api-keys`, {
    name: "of one person",
    scope: "user",
    end_user_id: user.id,
  });
  const { id } = await blocked(servers.modern, call("echo"), { ...team, apiKey });
  const account = { tenant_id: "default", username: "owner-as-admin", password: ADMIN_PASSWORD };
  await admin.post("/v1/admin/admin-users", { ...account, email: "Owner@example.org", role: "admin" });
  const owner = await signIn(gateway.adminUrl, account, "tenant");
  expect((await owner.request("POST", `/v1/admin/approvals/${id}/approve`, {})).status).toBe(403);
  expect((await approver.request("POST", `/v1/admin/approvals/${id}/approve`, {})).status).toBe(403);
  expect(await admin.post(`/v1/admin/approvals/${id}/approve`, {})).toMatchObject({ status: "approved" });
});

test.each([
  ["security", true],
  ["developer", true],
  ["auditor", false],
  ["compliance", false],
  ["viewer", false],
])("only roles that resolve approvals or read bodies see the arguments: %s", async (role, sees) => {
  const { admin, gateway } = world;
  const { id } = await blocked(servers.modern, call("echo", `for ${role}`));
  const account = { tenant_id: "default", username: `reads-as-${role}`, password: ADMIN_PASSWORD };
  await admin.post("/v1/admin/admin-users", { ...account, role });
  const reader = await signIn(gateway.adminUrl, account, "tenant");
  const { approvals } = await reader.get("/v1/admin/approvals?status=pending");
  const told = sees ? { text: `for ${role}` } : {};
  for (const one of [await reader.get(`/v1/admin/approvals/${id}`), approvals.find((listed: { id: string }) => listed.id === id)])
    expect(one).toMatchObject({ id, capability_name: "echo", call_arguments: told, call_arguments_text: JSON.stringify(told) });
});

test.each(["old", "modern", "virtual"] as const)(
  "a call in an unknown session consumes no approval and requests none (%s)",
  async (server) => {
    const tool = server === "virtual" ? "modern__echo" : "echo";
    const begun = await post(servers[server], team.apiKey, {
      jsonrpc: "2.0",
      id: 0,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "loses", version: "1" } },
    });
    const session = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
    const lost = { "mcp-session-id": `${session["mcp-session-id"]}0` };
    const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool, arguments: { text: `session ${asked++}` } } };
    expect((await post(servers[server], team.apiKey, message, lost)).body.error.data.code).toBe("session_not_found");
    const held = await post(servers[server], team.apiKey, message, session);
    const token = { "x-approval-token": await approve(held.body.error.data.approval_id) };
    expect((await post(servers[server], team.apiKey, message, { ...lost, ...token })).body.error.data.code).toBe("session_not_found");
    expect((await post(servers[server], team.apiKey, message, { ...session, ...token })).body.result.content[0].text).toContain("session");
  },
);

test("a tool without the approval requirement is called at once, and an official client gets the approval error", async () => {
  expect(
    (await post(servers.modern, team.apiKey, stateless(2, "tools/call", { name: "secret", arguments: {} }))).body.result,
  ).toBeDefined();
  const client = await statelessClient(servers.modern, team.apiKey);
  expect(client.callTool({ name: "echo", arguments: { text: "client" } })).rejects.toMatchObject({ code: 4030 });
  await client.close();
});

describe.each([
  ["a stateless server", "modern", "ask", () => modern],
  ["a handshake server behind the bridge", "old", "ask", () => old],
  ["a stateless member of a virtual server", "virtual", "modern__ask", () => modern],
  ["a handshake member of a virtual server", "virtual", "old__ask", () => old],
] as const)("an approved tool of %s that asks for input", (_name, server, tool, fixture) => {
  const ask = (args: Record<string, unknown> = {}, rest: Record<string, unknown> = {}) =>
    stateless(1, "tools/call", { name: tool, arguments: args, ...rest });

  /** The tool's question with its request state, after an approval was requested, granted and redeemed. */
  async function question(args: Record<string, unknown> = {}) {
    const { id } = await blocked(servers[server], ask(args));
    const token = await approve(id);
    const { body } = await post(servers[server], team.apiKey, ask(args), { "x-approval-token": token });
    expect(body.result.resultType).toBe("input_required");
    const [key = ""] = Object.keys(body.result.inputRequests);
    const answer = (name: string) => ({
      requestState: body.result.requestState as string,
      inputResponses: { [key]: { action: "accept", content: { name } } },
    });
    return { id, token, key, answer };
  }

  test("gets the answer under its approval, once", async () => {
    const { id, token, answer } = await question();
    const done = await post(servers[server], team.apiKey, ask({}, answer("Ada")));
    expect(done.body.result.content).toEqual([{ type: "text", text: "hello Ada" }]);
    const before = calls(fixture());
    const again = await Promise.all([
      post(servers[server], team.apiKey, ask({}, answer("Eve"))),
      post(servers[server], team.apiKey, ask({}, answer("Eve")), { "x-approval-token": token }),
    ]);
    for (const { status, body } of again)
      expect([status, body.error.code, body.error.data.code]).toEqual([403, 4031, "approval_token_invalid"]);
    expect(calls(fixture())).toBe(before);
    const rows = await rowsOf(world.admin, { consumed_approval_request_id: id }, 2);
    expect(rows.map(({ success, agent_authz_decision }: any) => [success, agent_authz_decision])).toEqual([
      [true, "allow"],
      [true, "allow"],
    ]);
  });

  test("accepts one of several concurrent answers, even with the approval token sent again", async () => {
    const { token, answer } = await question();
    const outcomes = await Promise.all(
      Array.from({ length: 6 }, (_, at) => post(servers[server], team.apiKey, ask({}, answer(`n${at}`)), { "x-approval-token": token })),
    );
    expect(outcomes.filter(({ body }) => body.result !== undefined)).toHaveLength(1);
    expect(outcomes.filter(({ status, body }) => status === 403 && body.error.data.code === "approval_token_invalid")).toHaveLength(5);
  });

  test("continues only the very call that was approved", async () => {
    const { answer, token } = await question();
    const before = calls(fixture());
    const other = server === "virtual" ? servers.modern : servers.virtual;
    const given = answer("Mallory");
    const asksAgain = [
      post(servers[server], team.apiKey, ask({ more: true }, given)),
      post(servers[server], team.apiKey, stateless(1, "tools/call", { name: tool.replace("ask", "echo"), arguments: {}, ...given })),
      post(
        other,
        team.apiKey,
        stateless(1, "tools/call", { name: server === "virtual" ? "ask" : `${server}__ask`, arguments: {}, ...given }),
      ),
      post(servers[server], team.apiKey, ask({}, { ...given, requestState: `${given.requestState}A` })),
    ];
    for (const { body } of await Promise.all(asksAgain))
      expect([body.error.code, body.error.data.code]).toEqual([4030, "approval_required"]);
    if (server !== "virtual") expect((await post(servers[server], neighbour.apiKey, ask({}, given))).body.error.code).toBe(4030);
    expect((await post(servers[server], team.apiKey, ask({ more: true }, given), { "x-approval-token": token })).body.error.data.code).toBe(
      "approval_token_invalid",
    );
    expect(calls(fixture())).toBe(before);
    expect((await post(servers[server], team.apiKey, ask({}, given))).body.result.content).toEqual([
      { type: "text", text: "hello Mallory" },
    ]);
  });
});

test("a tool that asks without a request state is called again without one, with the arguments unchanged", async () => {
  const seen: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      if (request.method === "GET") return new Response(null, { status: 405 });
      const text = await request.text();
      const { id, method, params } = JSON.parse(text);
      const told = (result: object) => Response.json({ jsonrpc: "2.0", id, result: { resultType: "complete", ...result } });
      if (method === "server/discover")
        return told({ supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, ttlMs: 0, cacheScope: "private" });
      if (method === "tools/list")
        return told({ tools: [{ name: "sure", inputSchema: { type: "object" } }], ttlMs: 0, cacheScope: "private" });
      seen.push(text);
      return params.inputResponses?.[`q${seen.length - 1}`] === undefined || seen.length < 3
        ? told({
            resultType: "input_required",
            inputRequests: {
              [`q${seen.length}`]: {
                method: "elicitation/create",
                params: { message: "Sure?", requestedSchema: { type: "object", properties: {} } },
              },
            },
          })
        : told({ content: [{ type: "text", text: "done" }] });
    },
  });
  const { id } = await world.admin.post("/v1/admin/mcp-servers", {
    tenant_id: "default",
    name: "sure",
    base_url: `http://127.0.0.1:${server.port}`,
  });
  await grant(world.admin, "sure with approval", id, [team.groupId], { approval_required_tools: ["sure"] });
  const url = `${world.gateway.runtimeUrl}/v1/proxy/mcp/${id}`;
  const { _meta } = stateless(1, "tools/call").params;
  const message = (rest: Record<string, unknown> = {}) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sure","arguments":{ "n": 12345678901234567890.0 },"_meta":${JSON.stringify(_meta)}${Object.entries(
      rest,
    )
      .map(([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`)
      .join("")}}}`;
  const held = await post(url, team.apiKey, message());
  let answer = await post(url, team.apiKey, message(), { "x-approval-token": await approve(held.body.error.data.approval_id) });
  for (const key of ["q1", "q2"]) {
    expect(Object.keys(answer.body.result.inputRequests)).toEqual([key]);
    answer = await post(
      url,
      team.apiKey,
      message({ requestState: answer.body.result.requestState, inputResponses: { [key]: { action: "accept", content: {} } } }),
    );
  }
  expect(answer.body.result.content).toEqual([{ type: "text", text: "done" }]);
  expect(seen.map((text) => [text.includes("requestState"), text.includes('{ "n": 12345678901234567890.0 }')])).toEqual([
    [false, true],
    [false, true],
    [false, true],
  ]);
  await server.stop(true);
});
