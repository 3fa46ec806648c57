import { afterAll, beforeAll, expect, test } from "bun:test";
import { compose, type Gateway } from "../../../server/compose.ts";
import { readConfiguration } from "../../../server/kernel/configuration/configuration.ts";
import { jsonLog } from "../../../server/kernel/log.ts";
import { serveModels, signIn } from "../../support/worlds/admin.ts";
import { BACKGROUND_STATEMENTS } from "../../support/processes/background-statements.ts";
import { testDatabase } from "../../support/database.ts";
import { startFakeUpstream } from "../../support/vendors/fake-upstream.ts";
import { ADMIN_PASSWORD, removeDirectory, temporaryDirectory } from "../../support/gateway.ts";
import { newPerson } from "../../support/worlds/portal.ts";
import { startResponseVendor } from "../../support/vendors/response-vendor.ts";
import { startHandshakeServer, startStatelessServer } from "../../support/tool-servers/tool-servers.ts";
import { grant, newTeam, post, stateless } from "../tools/mcp-harness.ts";

const statements: string[] = [];
let gateway: Gateway;
let dataDir: string;
let closeDatabase: () => Promise<void>;

beforeAll(async () => {
  const database = await testDatabase();
  closeDatabase = database.close;
  dataDir = await temporaryDirectory();
  const env = {
    GW_RUNTIME_PORT: "0",
    GW_ADMIN_PORT: "0",
    GW_DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    GW_BOOTSTRAP_ADMIN_PASSWORD: ADMIN_PASSWORD,
  };
  gateway = await compose(readConfiguration(env), env, jsonLog("error"), { onQuery: (sql) => statements.push(sql) });
});

afterAll(async () => {
  await gateway.stop();
  await closeDatabase();
  await removeDirectory(dataDir);
});

test("a model call in steady state reads no database", async () => {
  const upstream = startFakeUpstream();
  const served = await serveModels(await signIn(gateway.adminUrl), upstream.baseUrl, ["fake-1"]);
  const person = await newPerson(gateway.runtimeUrl as string, "steady");
  await (await signIn(gateway.adminUrl)).request("PATCH", `/v1/admin/end-users/${person.id}/primary-group`, { group_id: served.groupId });
  const call = async (model: string, stream: boolean, credential: Record<string, string> = { "x-api-key": served.apiKey }) => {
    const response = await fetch(`${gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", ...credential },
      body: JSON.stringify({ model, stream, messages: [{ role: "user", content: "x" }] }),
    });
    await response.text();
    return response.status;
  };
  expect(await call("fake-1", false)).toBe(200);
  const token = { authorization: `Bearer ${person.token}` };
  expect(await call("fake-1", false, token)).toBe(200);

  statements.length = 0;
  for (let i = 0; i < 100; i++) {
    expect(await call("fake-1", i % 2 === 0)).toBe(200);
    expect(await call("fake-1", i % 2 === 0, token)).toBe(200);
    expect(await call("not-there", false)).toBe(404);
    expect((await fetch(`${gateway.runtimeUrl}/v1/proxy/llm/models`, { headers: { "x-api-key": served.apiKey } })).status).toBe(200);
    // An invalid key is remembered as invalid.
    if (i > 0)
      expect(
        (await fetch(`${gateway.runtimeUrl}/v1/proxy/llm/models`, { headers: { "x-api-key": `sk_gw_api_${"w".repeat(43)}` } })).status,
      ).toBe(401);
    else {
      await fetch(`${gateway.runtimeUrl}/v1/proxy/llm/models`, { headers: { "x-api-key": `sk_gw_api_${"w".repeat(43)}` } });
      statements.length = 0;
    }
  }
  expect(statements.filter((sql) => !BACKGROUND_STATEMENTS.test(sql))).toEqual([]);
  await upstream.stop();
});

test("continuing or retrieving a response created by this process reads no database", async () => {
  const vendor = startResponseVendor();
  const modes = { mode: "responses", modes: ["responses", "chat"] };
  const given = { group: "responders", providerKey: "keeps" };
  const { apiKey } = await serveModels(await signIn(gateway.adminUrl), `${vendor.origin}/v1`, [{ name: "keeps", ...modes }], given);
  const ask = async (path: string, body?: object) => {
    const response = await fetch(`${gateway.runtimeUrl}/v1/proxy/llm/responses${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { "x-api-key": apiKey, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    expect(response.status).toBe(200);
    return (await response.json()) as { id: string };
  };
  let { id } = await ask("", { model: "keeps", input: "Hi" });
  statements.length = 0;
  for (let turn = 0; turn < 20; turn++) {
    ({ id } = await ask("", { model: "keeps", input: "And?", previous_response_id: id }));
    await ask(`/${id}`);
  }
  const others = statements.filter((sql) => !BACKGROUND_STATEMENTS.test(sql));
  expect(others.filter((sql) => !/^\s*INSERT INTO stored_responses/.test(sql))).toEqual([]);
  expect(others.length).toBe(20);
  await vendor.stop();
});

test("a tool call in steady state reads no database and starts no session, whatever policies and protocol versions apply", async () => {
  const admin = await signIn(gateway.adminUrl);
  const tenant = { tenant_id: "default" };
  const team = await newTeam(admin, "tool users");
  const fixtures = [startHandshakeServer(), startStatelessServer()];
  const ids: string[] = [];
  for (const { baseUrl } of fixtures) {
    const { id } = await admin.post("/v1/admin/mcp-servers", {
      ...tenant,
      name: `tools ${ids.length}`,
      base_url: baseUrl,
      auth_type: "bearer",
      api_key: "sk-upstream-secret-0001",
    });
    await grant(admin, `tools ${ids.length}`, id, [team.groupId], {
      enabled_tools: ["echo", "secret"],
      approval_required_tools: ["secret"],
    });
    ids.push(id);
  }
  const virtual = await admin.post("/v1/admin/virtual-servers", {
    ...tenant,
    name: "both",
    mcp_server_ids: ids,
    group_ids: [team.groupId],
  });
  await admin.request("PATCH", `/v1/admin/resource-groups/${team.groupId}/mcp-global-limits`, {
    mcp_global_limits: { frequency: { max_calls_per_minute: 100_000, max_calls_per_day: 1_000_000 }, data: { max_rows_per_query: 10 } },
  });
  await admin.post("/v1/admin/guardrails/configs", {
    ...tenant,
    name: "tool wall",
    group_ids: [team.groupId],
    surfaces: { mcp_input: true, mcp_output: true },
    builtin: { pii_enabled: true, secrets_enabled: true, banned_words: ["project titan"] },
  });
  await admin.post("/v1/admin/argument-policies", {
    ...tenant,
    name: "reading only",
    target: "echo",
    argument_key: "text",
    analyzer: "sql",
    rules: [{ deny_if: "writes", message: "Reading only." }],
    group_ids: [team.groupId],
  });

  const [old = "", modern = ""] = ids.map((id) => `${gateway.runtimeUrl}/v1/proxy/mcp/${id}`);
  const both = `${gateway.runtimeUrl}/v1/proxy/vmcp/${virtual.id}`;
  const call = (url: string, name: string) => ({
    url,
    message: stateless(1, "tools/call", { name, arguments: { text: "SELECT 1" } }),
    headers: {},
  });
  const inSession = async (url: string, name: string) => {
    const begun = await post(url, team.apiKey, {
      jsonrpc: "2.0",
      id: 0,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "steady", version: "1" } },
    });
    const headers = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "", "mcp-protocol-version": "2025-11-25" };
    await post(url, team.apiKey, { jsonrpc: "2.0", method: "notifications/initialized" }, headers);
    return { url, message: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: { text: "SELECT 1" } } }, headers };
  };
  const calls = [
    call(modern, "echo"),
    call(old, "echo"),
    call(both, `${virtual.members[0].slug}__echo`),
    await inSession(old, "echo"),
    await inSession(modern, "echo"),
    await inSession(both, `${virtual.members[1].slug}__echo`),
  ];
  const round = async () => {
    for (const { url, message, headers } of calls)
      expect(JSON.stringify((await post(url, team.apiKey, message, headers)).body.result.content)).toContain("SELECT 1");
  };
  await round();

  statements.length = 0;
  const before = fixtures.map(({ seen }) => seen.length);
  for (let i = 0; i < 50; i++) await round();
  expect(statements.filter((sql) => !BACKGROUND_STATEMENTS.test(sql))).toEqual([]);
  // One request for each call and nothing else: no handshake, no list, no discovery.
  expect(
    fixtures.map(({ seen }, at) =>
      seen
        .slice(before[at])
        .map(({ body }) => /"method":"([^"]*)"/.exec(body)?.[1])
        .filter((method) => method !== "tools/call"),
    ),
  ).toEqual([[], []]);
  expect(fixtures.map(({ seen }, at) => seen.length - (before[at] ?? 0))).toEqual([150, 150]);
  await Promise.all(fixtures.map((fixture) => fixture.stop()));
});
