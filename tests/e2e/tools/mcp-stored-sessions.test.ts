import { afterAll, beforeAll, expect, test } from "bun:test";
import { rawStream } from "../../support/formats/raw-stream.ts";
import {
  events,
  type ScriptedAnswer,
  type ScriptedToolServer,
  startScriptedToolServer,
} from "../../support/tool-servers/scripted-tool-server.ts";
import { startWorld, type World } from "../../support/world.ts";
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
  const begun = await post(
    url,
    team.apiKey,
    inSession(0, "initialize", { protocolVersion: "2025-11-25", capabilities, clientInfo: { name: "raw", version: "1" } }),
  );
  return { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
}

/** A handshake server as stateless callers reach it, and as the member `m` of a virtual server. */
async function serve(name: string, answer: ScriptedAnswer): Promise<{ server: ScriptedToolServer; alone: string; virtual: string }> {
  const server = startScriptedToolServer("handshake", answer);
  servers.push(server);
  const { id } = await world.admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name, base_url: server.baseUrl, timeout: 5 });
  await grant(world.admin, name, id, [team.groupId]);
  const { id: virtual } = await world.admin.post("/v1/admin/virtual-servers", {
    tenant_id: "default",
    name,
    members: [{ mcp_server_id: id, slug: "m" }],
    group_ids: [team.groupId],
  });
  return {
    server,
    alone: `${world.gateway.runtimeUrl}/v1/proxy/mcp/${id}`,
    virtual: `${world.gateway.runtimeUrl}/v1/proxy/vmcp/${virtual}`,
  };
}

const TEXT = (text: string) => ({ content: [{ type: "text", text }] });
const answered = (id: unknown, text: string) => `data: ${JSON.stringify({ jsonrpc: "2.0", id, result: TEXT(text) })}\n\n`;

test("an answer whose stream ends early is resumed with Last-Event-ID, repeatedly", async () => {
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

test("an answer that cannot be resumed is upstream_interrupted", async () => {
  const { alone } = await serve("lost", (message, request) => {
    if (message?.method === "tools/call") return events("id: a\nretry: 10\ndata:\n\n");
    return request.method === "GET" ? new Response(null, { status: 405 }) : undefined;
  });
  expect((await post(alone, team.apiKey, stateless(1, "tools/call", { name: "open" }))).body.error.data.code).toBe("upstream_interrupted");
});

test("each session at a virtual server has one session of its own with a member, which ends with it", async () => {
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

test("a stopping gateway ends its sessions at tool servers", async () => {
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

/** Unsolicited messages go to every open stream of a session. */
function sessionStreams() {
  const open = new Set<ReadableStreamDefaultController<Uint8Array>>();
  const encoder = new TextEncoder();
  const first = Promise.withResolvers<void>();
  return {
    opened: first.promise,
    begin() {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          open.add(controller);
          controller.enqueue(encoder.encode(": open\n\n"));
          first.resolve();
        },
      });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    },
    tell: (method: string, params: object) => {
      for (const controller of open) controller.enqueue(encoder.encode(`data: ${JSON.stringify({ jsonrpc: "2.0", method, params })}\n\n`));
    },
  };
}

const HEADERS = () => ({ accept: "application/json, text/event-stream", "content-type": "application/json", "x-api-key": team.apiKey });

test("progress on the session's stream reaches its own request, even if other callers chose the same token", async () => {
  const streams = sessionStreams();
  const answer = new Map<string, () => void>();
  const { alone } = await serve("beside", (message, request) => {
    if (request.method === "GET") return streams.begin();
    if (message?.method !== "tools/call") return undefined;
    const {
      arguments: { who },
      _meta: { progressToken },
    } = message.params;
    return new Response(
      new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(new TextEncoder().encode(": open\n\n"));
          streams.tell("notifications/progress", { progressToken, progress: 1, message: `for ${who}` });
          answer.set(who, () => controller.enqueue(new TextEncoder().encode(answered(message.id, who))));
        },
      }),
      { headers: { "content-type": "text/event-stream" } },
    );
  });
  const TOKEN = "12345678901234567890";
  const calls = ["one", "two"].map((who) => {
    const text = JSON.stringify(stateless(1, "tools/call", { name: "open", arguments: { who } })).replace(
      '"_meta":{',
      `"_meta":{"progressToken":${TOKEN},`,
    );
    return { who, stream: rawStream(alone, "POST", HEADERS(), text) };
  });
  for (const { who, stream } of calls) await stream.until(`for ${who}`);
  for (const { who, stream } of calls) {
    answer.get(who)?.();
    await stream.until('"text":');
    expect(stream.text()).toContain(`"progressToken":${TOKEN}`);
    expect(stream.text().match(/for (one|two)/g)).toEqual([`for ${who}`]);
    stream.close();
  }
});

test("a session at a virtual server gets its members' logs at its level, and errors for unsupported methods", async () => {
  const streams = sessionStreams();
  const { virtual } = await serve("logging", (message, request) => {
    if (request.method === "GET") return streams.begin();
    if (message?.method !== "initialize") return undefined;
    return Response.json(
      {
        jsonrpc: "2.0",
        id: message.id,
        result: { protocolVersion: "2025-11-25", capabilities: { tools: {}, logging: {} }, serverInfo: { name: "logs", version: "1" } },
      },
      { headers: { "mcp-session-id": crypto.randomUUID() } },
    );
  });
  const begun = await post(
    virtual,
    team.apiKey,
    inSession(0, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } }),
  );
  expect(begun.body.result.capabilities).toEqual({ tools: {}, logging: {} });
  const session = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
  const stream = rawStream(virtual, "GET", { ...HEADERS(), ...session });
  const log = (level: string, data: string) => streams.tell("notifications/message", { level, data });
  await streams.opened;
  log("debug", "first");
  log("warning", "second");
  await stream.until("second");
  await post(virtual, team.apiKey, inSession(2, "logging/setLevel", { level: "debug" }), session);
  log("debug", "third");
  await stream.until("third");
  expect(stream.text()).not.toContain("first");
  stream.close();
  expect((await post(virtual, team.apiKey, inSession(3, "resources/subscribe", { uri: "m+test://note" }), session)).body.error.code).toBe(
    -32601,
  );
});
