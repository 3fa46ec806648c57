import { afterAll, beforeAll, expect, test } from "bun:test";
import { rowOf, serveModels, signIn } from "../../support/worlds/admin.ts";
import { type TestDatabase, testDatabase } from "../../support/database.ts";
import { answerOf } from "../../support/formats/calling-answers.ts";
import { removeDirectory, startGateway } from "../../support/gateway.ts";
import { type RawUpstream, startRawUpstream } from "../../support/vendors/raw-upstream.ts";
import { startSearchVendors } from "../../support/vendors/search-vendors.ts";
import { startStatelessServer } from "../../support/tool-servers/tool-servers.ts";
import { grant, newTeam, post, stateless } from "../tools/mcp-harness.ts";

let database: TestDatabase;
let upstream: RawUpstream;

beforeAll(async () => {
  database = await testDatabase();
  upstream = await startRawUpstream((path, body) => {
    const text = JSON.stringify(answerOf(path, Number(/make (\d) calls/.exec(body)?.[1])).whole);
    const head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n";
    return { head, pieces: [Buffer.from(text)], ending: "end" };
  });
});
afterAll(async () => {
  await upstream.stop();
  await database.close();
});

test("a restart does not reset hourly or daily tool call caps of a group or of a renamed model", async () => {
  let gateway = await startGateway({ databaseUrl: database.url });
  const admin = await signIn(gateway.adminUrl);
  const { groupId, apiKey, models } = await serveModels(admin, `${upstream.origin}/v1`, ["one", "two"]);
  const group = `/v1/admin/resource-groups/${groupId}`;
  for (const [path, tool_use] of [
    ["llm-global-governance", { max_tool_calls_per_day: 5 }],
    [`llm-models/${models.one}/governance`, { max_tool_calls_per_hour: 3 }],
  ] as const) {
    expect((await admin.request("PATCH", `${group}/${path}`, { governance: { tool_use } })).status).toBe(200);
  }

  /** A call whose answer contains `made` tool calls. */
  const call = (model: string, made: number) =>
    fetch(`${gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({ model, messages: [{ role: "user", content: `make ${made} calls` }] }),
    });
  const first = await call("one", 2);
  expect([first.status, (await call("one", 2)).status, (await call("two", 0)).status]).toEqual([200, 403, 200]);
  expect((await rowOf(admin, { id: first.headers.get("x-request-id") })).custom_metadata).toEqual({ tool_calls: 2 });

  expect((await admin.request("PATCH", `/v1/admin/llms/${models.one}`, { name: "uno" })).status).toBe(200);
  await gateway.stop();
  gateway = await startGateway({ databaseUrl: database.url, dataDir: gateway.dataDir });
  // Two of three are used for the one model, and two of five in total; refusals count nowhere.
  expect([
    (await call("uno", 2)).status,
    (await call("uno", 1)).status,
    (await call("two", 3)).status,
    (await call("two", 2)).status,
    (await call("two", 1)).status,
  ]).toEqual([403, 200, 403, 200, 403]);
  await gateway.stop();
  await removeDirectory(gateway.dataDir);
});

test("a restart does not reset the cost of web searches in budgets and run ceilings", async () => {
  const vendors = startSearchVendors();
  vendors.found = [{ title: "A page", url: "https://example.com/a", text: "about it" }];
  let gateway = await startGateway({ databaseUrl: database.url });
  const admin = await signIn(gateway.adminUrl);
  const provider = { kind: "brave", base_url: vendors.url, api_key: "brave-key-0123456789", price_per_search_usd: 0.005, cache_seconds: 0 };
  await admin.post("/v1/admin/web-search", { tenant_id: "default", name: "brave", ...provider });
  const spending = await newTeam(admin, "spending");
  const running = await newTeam(admin, "running");
  const asking = await serveModels(admin, `${upstream.origin}/v1`, ["asked"], { group: "asking", providerKey: "asked" });
  const set = async ({ groupId }: { readonly groupId: string }, path: string, document: object) =>
    expect((await admin.request("PATCH", `/v1/admin/resource-groups/${groupId}/${path}`, document)).status).toBe(200);
  await set(spending, "llm-global-limits", { llm_global_limits: { budget: { daily_limit_usd: 0.012, hard_stop: true } } });
  await set(running, "run-ceilings", { run_ceilings: { max_cost_per_run_usd: 0.012 } });
  await set(asking, "llm-global-limits", { llm_global_limits: { requests: { daily_limit: 1 } } });
  await grant(admin, "searches", "system-web-search-default", [spending.groupId, running.groupId, asking.groupId]);

  const url = () => `${gateway.runtimeUrl}/v1/proxy/mcp/system-web-search-default`;
  const search = (key: string) =>
    post(url(), key, stateless(1, "tools/call", { name: "web_search", arguments: { query: "otters" } }), {
      "mcp-protocol-version": "2026-07-28",
      "x-gw-run-id": "searching",
    });
  for (const key of [spending.apiKey, running.apiKey])
    expect([(await search(key)).status, (await search(key)).status, (await search(key)).status]).toEqual([200, 200, 429]);
  expect((await search(asking.apiKey)).status).toBe(200);

  await gateway.stop();
  gateway = await startGateway({ databaseUrl: database.url, dataDir: gateway.dataDir });
  expect((await search(spending.apiKey)).body.error.data.usage_limit.limit_type).toBe("daily_budget");
  expect((await search(running.apiKey)).body.error.data.usage_limit.limit_type).toBe("max_cost_per_run_usd");
  const asked = await fetch(`${gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${asking.apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "asked", messages: [{ role: "user", content: "make 0 calls" }] }),
  });
  // A search does not count as a request to a model.
  expect(asked.status).toBe(200);
  await gateway.stop();
  await vendors.stop();
  await removeDirectory(gateway.dataDir);
});

test("a restart does not reset the duration of a run that has only called tools", async () => {
  const tools = startStatelessServer();
  let gateway = await startGateway({ databaseUrl: database.url });
  const admin = await signIn(gateway.adminUrl);
  const team = await newTeam(admin, "timed");
  const { id } = await admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: "timed", base_url: tools.baseUrl });
  await grant(admin, "timed", id, [team.groupId]);
  const ceilings = { run_ceilings: { max_duration_seconds_per_run: 1 } };
  expect((await admin.request("PATCH", `/v1/admin/resource-groups/${team.groupId}/run-ceilings`, ceilings)).status).toBe(200);
  const call = () =>
    post(`${gateway.runtimeUrl}/v1/proxy/mcp/${id}`, team.apiKey, stateless(1, "tools/call", { name: "echo", arguments: { text: "a" } }), {
      "mcp-protocol-version": "2026-07-28",
      "x-gw-run-id": "timed",
    });
  expect((await call()).status).toBe(200);
  await gateway.stop();
  gateway = await startGateway({ databaseUrl: database.url, dataDir: gateway.dataDir });
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect((await call()).body.error?.data.code).toBe("run_ceiling_reached");
  await gateway.stop();
  await tools.stop();
  await removeDirectory(gateway.dataDir);
});
