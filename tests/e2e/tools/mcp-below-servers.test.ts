import { afterAll, beforeAll, expect, test } from "bun:test";
import { rowOf } from "../../support/worlds/admin.ts";
import { type RawUpstream, startRawUpstream } from "../../support/vendors/raw-upstream.ts";
import { startWorld, type World } from "../../support/world.ts";
import { grant, newTeam, type Team } from "./mcp-harness.ts";

/** Requests below a server's own path that are not a single protocol message. */
let world: World;
let upstream: RawUpstream;
let url: string;
const teams: Record<string, Team> = {};
const reached: string[] = [];

beforeAll(async () => {
  world = await startWorld();
  const { admin } = world;
  const tenant = { tenant_id: "default" };
  upstream = await startRawUpstream((path, body) => {
    reached.push(`${path} ${body}`);
    return { head: "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n", pieces: [Buffer.from("taken")], ending: "end" };
  });
  for (const name of ["free", "ruled", "guarded", "warned"]) teams[name] = await newTeam(admin, name);
  const { id } = await admin.post("/v1/admin/mcp-servers", { ...tenant, name: "files", base_url: upstream.origin });
  await grant(
    admin,
    "files",
    id,
    Object.values(teams).map(({ groupId }) => groupId),
  );
  url = `${world.gateway.runtimeUrl}/v1/proxy/mcp/${id}`;
  await admin.post("/v1/admin/argument-policies", {
    ...tenant,
    name: "reading only",
    target: "run_sql",
    argument_key: "sql",
    analyzer: "sql",
    rules: [{ deny_if: "writes", message: "Reading only." }],
    group_ids: [teams.ruled?.groupId],
  });
  for (const [name, action] of [
    ["guarded", "block"],
    ["warned", "warn"],
  ] as const)
    await admin.post("/v1/admin/guardrails/configs", {
      ...tenant,
      name,
      group_ids: [teams[name]?.groupId],
      surfaces: { mcp_input: true },
      builtin: { banned_words: ["project titan"], banned_words_action: action },
    });
  reached.length = 0;
});
afterAll(async () => {
  await upstream.stop();
  await world.end();
});

async function send(team: string, path: string, body: string | Buffer<ArrayBuffer>, type = "application/json") {
  const headers = { "content-type": type, "x-api-key": teams[team]?.apiKey ?? "" };
  const response = await fetch(url + path, { method: "POST", headers, body });
  const text = await response.text();
  return { status: response.status, text, code: response.ok ? null : JSON.parse(text).error.data?.code };
}

const call = '"id":1,"method":"tools/call","params":{"name":"run_sql","arguments":{"sql":"SELECT 1","sql":"DROP TABLE t"}}';

test.each([
  ["with escaped member names", `{"json\\u0072pc":"2.0",${call}}`],
  ["in a batch, with escaped member names", `[{"\\u006A\\u0073onrpc":"2.0",${call}}]`],
  ["with a megabyte of spaces", `{${call},${" ".repeat(1_000_000)}"jsonrpc":"2.0"}`],
  ["in UTF-16", Buffer.from(`\uFEFF{"jsonrpc":"2.0",${call}}`, "utf16le")],
] as const)("a tool call %s is not passed on to a sub-path of a tool server, with or without policies", async (_name, body) => {
  for (const team of ["free", "ruled", "guarded"]) expect([team, (await send(team, "/mcp", body)).status]).toEqual([team, 400]);
  expect(reached).toEqual([]);
});

test("a sub-path request that is not a protocol message passes only if no policy has to inspect tool calls", async () => {
  const body = JSON.stringify({ note: "of project titan" });
  expect(await send("free", "/notes", body)).toMatchObject({ status: 200, text: "taken" });
  expect(await send("free", "/notes", "plain", "text/plain")).toMatchObject({ status: 200, text: "taken" });
  expect(reached.splice(0)).toEqual([`/notes ${body}`, "/notes plain"]);
  expect(await send("ruled", "/notes", body)).toMatchObject({ status: 403, code: "tool_not_allowed" });
  expect(await send("guarded", "/notes", body)).toMatchObject({ status: 400, code: "parameter_rejected" });
  expect(reached).toEqual([]);
  expect(await send("warned", "/notes", body)).toMatchObject({ status: 200 });
  expect(await rowOf(world.admin, { resource_group_id: teams.warned?.groupId, proxy_subtype: "mcp_sub_path" })).toMatchObject({
    guardrails_skipped: true,
  });
});

test("no spelling of a sub-path leaves the server's own path", async () => {
  const { id } = await world.admin.post("/v1/admin/mcp-servers", {
    tenant_id: "default",
    name: "one of many",
    base_url: `${upstream.origin}/one`,
  });
  await grant(world.admin, "one of many", id, [teams.free?.groupId ?? ""]);
  const below = `${world.gateway.runtimeUrl}/v1/proxy/mcp/${id}`;
  const headers = { "x-api-key": teams.free?.apiKey ?? "" };
  reached.length = 0;
  for (const path of [
    "/..%2ftwo",
    "/a/..%2F..%5ctwo",
    "/%2e%2e%2ftwo",
    "/..%252ftwo",
    "/..;/two",
    "/..;x=1/two",
    "/..%3b/two",
    "/%5c..%5ctwo",
  ])
    expect([path, (await fetch(below + path, { headers })).status]).toEqual([path, 404]);
  expect(reached).toEqual([]);
  for (const path of ["/a..b/..c", "/a%2fb", "/...;x", "/50%25", "/a;v=.."]) {
    expect([path, (await fetch(below + path, { headers })).status]).toEqual([path, 200]);
    expect(reached.splice(0)).toEqual([`/one${path} `]);
  }
});

test("binary bodies of sub-path requests and responses pass unchanged", async () => {
  const sent = Buffer.from([0, 0xff, 0xfe, 0x80, 0xc3, 0x28, 0xed, 0xa0, 0x80, 0x0a]);
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => new Response(await request.bytes(), { headers: { "content-type": "application/octet-stream" } }),
  });
  const { id } = await world.admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: "bytes", base_url: server.url.origin });
  await grant(world.admin, "bytes", id, [teams.free?.groupId ?? ""]);
  const headers = { "content-type": "application/octet-stream", "x-api-key": teams.free?.apiKey ?? "" };
  const answer = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/mcp/${id}/upload`, { method: "POST", headers, body: sent });
  const back = Buffer.from(await answer.arrayBuffer());
  await server.stop(true);
  expect([answer.status, back.toString("hex")]).toEqual([200, sent.toString("hex")]);
});

test("the server gets the gateway's charset in content-type, whatever the caller sent", async () => {
  const heads: (string | null)[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      heads.push(request.headers.get("content-type"));
      return Response.json({ jsonrpc: "2.0", id: 1, result: {} });
    },
  });
  const { id } = await world.admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: "sets", base_url: server.url.origin });
  await grant(world.admin, "sets", id, [teams.free?.groupId ?? ""]);
  heads.length = 0;
  const headers = { "content-type": "application/json; charset=utf-7", "x-api-key": teams.free?.apiKey ?? "" };
  const body = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run+AF8-sql"}}';
  await fetch(`${world.gateway.runtimeUrl}/v1/proxy/mcp/${id}`, { method: "POST", headers, body });
  await server.stop(true);
  expect(heads).toEqual(["application/json"]);
});
