import { afterAll, beforeAll, expect, test } from "bun:test";
import { rowsOf } from "../../support/worlds/admin.ts";
import { forgetful, inSession, type OddServers, startOddServers } from "../../support/tool-servers/odd-servers.ts";
import { rawStream } from "../../support/formats/raw-stream.ts";
import { events } from "../../support/tool-servers/scripted-tool-server.ts";
import { post, stateless } from "./mcp-harness.ts";

/** Listening to servers that go away, lose sessions or have no notification streams. */
let world: OddServers["world"];
let team: OddServers["team"];
let at: OddServers["at"];
let serve: OddServers["serve"];
let listen: OddServers["listen"];
let closing: OddServers["closing"];
let end: OddServers["end"];

beforeAll(async () => {
  ({ world, team, at, serve, listen, closing, end } = await startOddServers());
});
afterAll(() => end());

test("a listener of a virtual server gets changes of a member that restarted or became reachable later", async () => {
  const { answer, forget } = forgetful();
  const [{ id: restarted }, { id: steady }] = [
    await serve("restarted", "handshake", answer),
    await serve("steady", "stateless", () => undefined),
  ];
  const virtual = await world.admin.post("/v1/admin/virtual-servers", {
    tenant_id: "default",
    name: "restarted",
    members: [
      { mcp_server_id: restarted, slug: "r" },
      { mcp_server_id: steady, slug: "s" },
    ],
    group_ids: [team.groupId],
  });
  const url = `${world.gateway.runtimeUrl}/v1/proxy/vmcp/${virtual.id}`;
  const stream = listen(url);
  await stream.until("list_changed");
  const heard = stream.count("list_changed");
  forget(true);
  // A client that arrives before the gateway notices joins the stream that is about to end.
  const isRefused = () =>
    listen(at(restarted))
      .until("upstream_unreachable")
      .then(
        () => true,
        () => false,
      );
  while (!(await isRefused()));
  const late = listen(url);
  await late.until('"toolsListChanged":true');
  expect(late.count("list_changed")).toBe(0);
  forget();
  await Promise.all([stream.until("list_changed", heard + 1), late.until("list_changed")]);
});

test("a new listener gets changes of a restarted server", async () => {
  const { answer, forget } = forgetful();
  const { id } = await serve("forgetful", "handshake", answer);
  const before = listen(at(id));
  await before.until("list_changed");
  forget();
  await before.until('"resultType":"complete"');
  const after = listen(at(id));
  await after.until('"toolsListChanged":true');
  await after.until("list_changed");
});

test("a lost session is replaced once for concurrent calls, and listeners of the old one get the end of their stream", async () => {
  let lost: string | null = null;
  let learned = 0;
  let both: () => void = () => undefined;
  const learnedByBoth = new Promise<void>((resolve) => (both = resolve));
  const { id, server } = await serve("gave up", "handshake", async (message, request) => {
    const session = request.headers.get("mcp-session-id");
    if (session !== null && session === lost) {
      if (message?.method !== "tools/call") return new Response("", { status: 404 });
      if (++learned === 2) both();
      await learnedByBoth;
      return new Response("", { status: 404 });
    }
    if (request.method === "GET")
      return new Response(new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(": open\n\n")) }), {
        headers: { "content-type": "text/event-stream" },
      });
    return message?.method === "tools/call" ? { content: [] } : message?.method?.startsWith("resources/") ? {} : undefined;
  });
  const before = listen(at(id), { resourceSubscriptions: ["test://note"] });
  await before.until("acknowledged");
  const said = (method: string) => server.seen.filter(({ text }) => text.includes(`"${method}"`));
  const begun = said("initialize").length;
  lost = said("resources/subscribe")[0]?.session ?? null;
  const calls = await Promise.all([1, 2].map((n) => post(at(id), team.apiKey, stateless(n, "tools/call", { name: "open" }))));
  expect(calls.map(({ body }) => body.result?.content)).toEqual([[], []]);
  expect(said("initialize").length - begun).toBe(1);
  await before.until('"resultType":"complete"');
  const after = listen(at(id), { resourceSubscriptions: ["test://note"] });
  await after.until("acknowledged");
  expect(said("resources/subscribe").map(({ session }) => session === lost)).toEqual([true, false]);
  expect(said("resources/unsubscribe")).toEqual([]);
});

test("a session gets each log line of its server once, whatever it subscribes to", async () => {
  let tell: (data: string) => void = () => undefined;
  let isOpen: () => void = () => undefined;
  const open = new Promise<void>((resolve) => (isOpen = resolve));
  const { id } = await serve("talkative", "handshake", async (message, { method }) => {
    if (method === "GET") {
      const start = (controller: ReadableStreamDefaultController<Uint8Array>) => {
        tell = (data) => {
          const log = { jsonrpc: "2.0", method: "notifications/message", params: { level: "error", data } };
          controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(log)}\n\n`));
        };
        tell("begun");
        isOpen();
      };
      return new Response(new ReadableStream({ start }), { headers: { "content-type": "text/event-stream" } });
    }
    if (message?.method === "resources/subscribe") {
      tell("while it is asked");
      await Bun.sleep(200);
      return {};
    }
    if (message?.method !== "initialize") return undefined;
    const capabilities = { tools: {}, logging: {}, resources: { subscribe: true } };
    return { protocolVersion: "2025-11-25", capabilities, serverInfo: { name: "talkative", version: "1" } };
  });
  const { id: virtualId } = await world.admin.post("/v1/admin/virtual-servers", {
    tenant_id: "default",
    name: "talkative",
    members: [{ mcp_server_id: id, slug: "m" }],
    group_ids: [team.groupId],
  });
  const url = `${world.gateway.runtimeUrl}/v1/proxy/vmcp/${virtualId}`;
  const begun = await post(url, team.apiKey, inSession(0, "initialize", { protocolVersion: "2025-11-25", capabilities: {} }));
  const session = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
  const stream = closing(rawStream(url, "GET", { accept: "text/event-stream", "x-api-key": team.apiKey, ...session }));
  await open;
  await stream.until("begun");
  expect((await post(url, team.apiKey, inSession(1, "resources/subscribe", { uri: "m+test://note" }), session)).body.result).toEqual({});
  await stream.until("while it is asked");
  await Bun.sleep(400);
  for (const line of ["twice", "twice", "the end"]) tell(line);
  await stream.until("the end");
  expect(["begun", "while it is asked", "twice"].map((line) => stream.count(line))).toEqual([1, 1, 2]);
});

test.each([429, 501])(
  "a server that answers %i instead of a change stream is listened to on a later attempt, or not at all",
  async (status) => {
    let refusals = 0;
    const { id } = await serve(`no stream ${status}`, "handshake", (_message, request) =>
      request.method === "GET" && (status === 501 || refusals++ === 0)
        ? new Response("", { status })
        : request.method === "GET"
          ? events('data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n')
          : undefined,
    );
    const first = listen(at(id));
    if (status === 501) return first.until('"notifications":{}');
    await first.until("upstream_unreachable");
    await listen(at(id)).until("list_changed");
  },
);

test("a handshake server gets cancellations and unsubscriptions when callers leave", async () => {
  const told = new Map<string, (params: unknown) => void>();
  const telling = (method: string) => new Promise<any>((resolve) => told.set(method, resolve));
  const [cancelled, subscribed, unsubscribed] = [
    telling("notifications/cancelled"),
    telling("resources/subscribe"),
    telling("resources/unsubscribe"),
  ];
  const silent = (...begin: Uint8Array[]) =>
    new Response(new ReadableStream({ start: (controller) => begin.forEach((piece) => controller.enqueue(piece)) }), {
      headers: { "content-type": "text/event-stream" },
    });
  let call: unknown;
  const { id } = await serve("told", "handshake", (message, request) => {
    told.get(message?.method ?? "")?.(message?.params);
    if (request.method === "GET") return silent(new TextEncoder().encode(": open\n\n"));
    if (message?.method === "tools/call") call = message.id;
    return message?.method === "tools/call"
      ? silent(new TextEncoder().encode(": working\n\n"))
      : message?.method?.startsWith("resources/") && message.method.endsWith("subscribe")
        ? {}
        : undefined;
  });
  expect((await post(at(id), team.apiKey, stateless(1, "tools/call", { name: "open" }))).body.error.data.code).toBe("upstream_timeout");
  expect((await cancelled).requestId).toBe(call);
  const stream = listen(at(id), { resourceSubscriptions: ["test://note"] });
  expect(await subscribed).toEqual({ uri: "test://note" });
  await stream.until("acknowledged");
  stream.close();
  expect(await unsubscribed).toEqual({ uri: "test://note" });
});

test("a shared subscription ends with its last listener, and each row has its own request", async () => {
  let unsubscribed: () => void = () => undefined;
  const gone = new Promise<void>((resolve) => (unsubscribed = resolve));
  const { id, server } = await serve("shared", "handshake", (message, request) => {
    if (request.method === "GET")
      return new Response(new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(": open\n\n")) }), {
        headers: { "content-type": "text/event-stream" },
      });
    if (message?.method === "resources/unsubscribe") unsubscribed();
    return message?.method === "resources/subscribe" || message?.method === "resources/unsubscribe" ? {} : undefined;
  });
  const virtual = await world.admin.post("/v1/admin/virtual-servers", {
    tenant_id: "default",
    name: "shared",
    members: [{ mcp_server_id: id, slug: "m" }],
    group_ids: [team.groupId],
  });
  const url = `${world.gateway.runtimeUrl}/v1/proxy/vmcp/${virtual.id}`;
  const [first, second] = [
    listen(url, { resourceSubscriptions: ["m+test://note"] }),
    listen(url, { resourceSubscriptions: ["m+test://note"] }),
  ];
  await Promise.all([first, second].map((stream) => stream.until("acknowledged")));
  const said = (method: string) => server.seen.filter(({ text }) => text.includes(`"${method}"`)).length;
  first.close();
  const [row] = await rowsOf(world.admin, { endpoint: new URL(url).pathname, error_type: "client_disconnected" }, 1);
  expect(row.request_content_hash).toBe(new Bun.CryptoHasher("sha256").update(row.request_body_preview).digest("hex"));
  expect([said("resources/subscribe"), said("resources/unsubscribe")]).toEqual([1, 0]);
  second.close();
  await gone;
  expect(said("resources/unsubscribe")).toBe(1);
});
