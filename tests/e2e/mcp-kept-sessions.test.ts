import { afterAll, beforeAll, expect, test } from "bun:test";
import { events, type ScriptedAnswer, type ScriptedToolServer, startScriptedToolServer } from "../support/scripted-tool-server.ts";
import { startWorld, type World } from "../support/world.ts";
import { grant, newTeam, post, stateless, type Team, textOf } from "./mcp-harness.ts";

/** What handshake servers do in the sessions that the gateway keeps with them for its callers. */
let world: World;
let team: Team;
const servers: ScriptedToolServer[] = [];

beforeAll(async () => {
  world = await startWorld();
  team = await newTeam(world.admin, "kept");
});
afterAll(async () => {
  await world.end();
  await Promise.all(servers.map((server) => server.stop()));
});

const inSession = (id: number, method: string, params: object = {}) => ({ jsonrpc: "2.0", id, method, params });

async function sessionAt(url: string, capabilities: object = {}): Promise<Record<string, string>> {
  const begun = await post(url, team.apiKey, inSession(0, "initialize", { protocolVersion: "2025-11-25", capabilities, clientInfo: { name: "raw", version: "1" } }));
  return { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
}

/** A handshake server as stateless callers reach it, and behind a virtual one as the member `m`. */
async function serve(name: string, answer: ScriptedAnswer): Promise<{ server: ScriptedToolServer; alone: string; virtual: string }> {
  const server = startScriptedToolServer("handshake", answer);
  servers.push(server);
  const { id } = await world.admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name, base_url: server.baseUrl, timeout: 5 });
  await grant(world.admin, name, id, [team.groupId]);
  const { id: virtual } = await world.admin.post("/v1/admin/virtual-servers", { tenant_id: "default", name, members: [{ mcp_server_id: id, slug: "m" }], group_ids: [team.groupId] });
  return { server, alone: `${world.gateway.runtimeUrl}/v1/proxy/mcp/${id}`, virtual: `${world.gateway.runtimeUrl}/v1/proxy/vmcp/${virtual}` };
}

const TEXT = (text: string) => ({ content: [{ type: "text", text }] });
const answered = (id: unknown, text: string) => `data: ${JSON.stringify({ jsonrpc: "2.0", id, result: TEXT(text) })}\n\n`;

test("an answer is read on where its server ended the stream of it, as often as it does", async () => {
  const parts = ["id: b\nretry: 10\ndata:\n\n", "event: message\r\nid: c\r\ndata:\r\n\r\n"];
  const sessions: (string | null)[] = [];
  let asked: unknown = null;
  const { alone, virtual } = await serve("polled", (message, request) => {
    if (message?.method === "tools/call") {
      asked = message.id;
      return events("id: a\nretry: 10\ndata:\n\n");
    }
    const from = request.headers.get("last-event-id");
    if (from === null) return undefined;
    sessions.push(request.headers.get("mcp-session-id"));
    return events(parts["ab".indexOf(from)] ?? answered(asked, `behind ${from}`));
  });
  expect(textOf((await post(alone, team.apiKey, stateless(1, "tools/call", { name: "open" }))).body.result)).toBe("behind c");
  expect(textOf((await post(virtual, team.apiKey, stateless(2, "tools/call", { name: "m__open" }))).body.result)).toBe("behind c");
  expect(sessions).toHaveLength(6);
  expect(new Set(sessions).size).toBe(1);
});

test("a server that ends the stream of an answer and has nothing behind it has broken off", async () => {
  const { alone } = await serve("lost", (message, request) => {
    if (message?.method === "tools/call") return events("id: a\nretry: 10\ndata:\n\n");
    return request.method === "GET" ? new Response(null, { status: 405 }) : undefined;
  });
  expect((await post(alone, team.apiKey, stateless(1, "tools/call", { name: "open" }))).body.error.data.code).toBe("upstream_interrupted");
});

test("each session of a caller has one of its own with a member, for lists and calls alike, which ends with it", async () => {
  let over: (session: string | null) => void = () => undefined;
  const { server, virtual } = await serve("own", (message, request) => {
    if (request.method === "DELETE") over(request.headers.get("mcp-session-id"));
    return message?.method === "tools/call" ? TEXT("done") : undefined;
  });
  const registered = server.seen.length;
  const sessions = [await sessionAt(virtual, { elicitation: {} }), await sessionAt(virtual, { elicitation: {} })];
  const behind: (string | null)[] = [];
  for (const session of sessions) {
    const before = server.seen.length;
    await post(virtual, team.apiKey, inSession(1, "tools/list"), session);
    await post(virtual, team.apiKey, inSession(2, "tools/call", { name: "m__open" }), session);
    const used = new Set(server.seen.slice(before).flatMap(({ http, session: own }) => (http === "POST" && own !== null ? [own] : [])));
    expect(used.size).toBe(1);
    behind.push(...used);
  }
  expect(new Set(behind).size).toBe(2);
  const begun = server.seen.slice(registered).filter(({ text }) => text.includes('"initialize"'));
  expect(begun.map(({ text }) => JSON.parse(text).params.capabilities)).toEqual([{ elicitation: {} }, { elicitation: {} }]);
  const ended = new Promise<string | null>((resolve) => {
    over = resolve;
  });
  await fetch(virtual, { method: "DELETE", headers: { "x-api-key": team.apiKey, ...sessions[0] } });
  expect(await ended).toBe(behind[0] ?? "");
});

test("a gateway that stops ends the sessions it kept", async () => {
  const own = await startWorld();
  const tools = startScriptedToolServer("handshake", (message) => (message?.method === "tools/call" ? TEXT("done") : undefined));
  const { id } = await own.admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: "left", base_url: tools.baseUrl });
  const { groupId, apiKey } = await newTeam(own.admin, "leaving");
  await grant(own.admin, "left", id, [groupId]);
  await post(`${own.gateway.runtimeUrl}/v1/proxy/mcp/${id}`, apiKey, stateless(1, "tools/call", { name: "open" }));
  const kept = tools.seen.findLast(({ text }) => text.includes('"tools/call"'))?.session;
  await own.end();
  expect(tools.seen.filter(({ http, session }) => http === "DELETE" && session === kept)).toHaveLength(1);
  await tools.stop();
});
