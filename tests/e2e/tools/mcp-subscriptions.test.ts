import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ChangingServer, startChangingServer } from "../../support/tool-servers/changing-server.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { type RawStream, rawStream } from "../../support/formats/raw-stream.ts";
import { startWorld, type World } from "../../support/world.ts";
import { rowOf } from "../../support/worlds/admin.ts";
import { until } from "../../support/until.ts";
import { grant, newTeam, post, stateless, type Team } from "./mcp-harness.ts";

/** Many subscribers to changes of tool servers, some of whom do not read what they receive. */
const SUBSCRIPTIONS = Number(process.env.MCP_SUBSCRIPTIONS ?? 1_000);
const MAX_MB = 300;
/** Sent to each subscriber that does not read. */
const FLOOD_MB = 256;
/** Two fifths of what is sent to ten of them: what was in transit when they stopped, and garbage not yet collected. */
const MAX_GROWTH_MB = 1_000;
/** What is left of it after garbage collection. */
const SETTLED_GROWTH_MB = 100;
const CHANGED = "notifications/tools/list_changed";

let world: World;
let team: Team;
const servers: ChangingServer[] = [];
const open = new Set<RawStream>();

beforeAll(async () => {
  world = await startWorld();
  team = await newTeam(world.admin, "listeners");
});
afterAll(async () => {
  for (const stream of open) stream.close();
  await world.end();
  await Promise.all(servers.map((server) => server.stop()));
});

/** A separate server for each test: streams of handshake servers stay open for a while after their last listener leaves. */
async function newServer(dialect: "handshake" | "stateless"): Promise<{ readonly server: ChangingServer; readonly url: string }> {
  const server = startChangingServer(dialect);
  const name = `${dialect} ${servers.push(server)}`;
  const { id, dialect: found } = await world.admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name, base_url: server.baseUrl });
  expect(found).toBe(dialect);
  await grant(world.admin, name, id, [team.groupId]);
  return { server, url: `${world.gateway.runtimeUrl}/v1/proxy/mcp/${id}` };
}

async function residentMb(): Promise<number> {
  const metrics = await (await fetch(`${world.gateway.adminUrl}/metrics`)).text();
  return Number(/^gatehouse_resident_memory_bytes (\S+)$/m.exec(metrics)?.[1]) / 1e6;
}

/** Memory that remains once temporary data has been freed. */
async function heldMb(): Promise<number> {
  const deadline = Date.now() + PATIENCE_MS;
  for (let least = await residentMb(); ; least = Math.min(least, await residentMb())) {
    if (least < MAX_MB || Date.now() > deadline) return least;
    await Bun.sleep(100);
  }
}

const accept = "application/json, text/event-stream";

function listen(url: string, { apiKey } = team): RawStream {
  const { params, ...message } = stateless("l", "subscriptions/listen", {
    notifications: { toolsListChanged: true, resourceSubscriptions: ["test://note"] },
  });
  // Without capabilities, so nothing can be asked: otherwise the gateway keeps the stream open a while longer.
  const body = JSON.stringify({
    ...message,
    params: { ...params, _meta: { ...params._meta, "io.modelcontextprotocol/clientCapabilities": {} } },
  });
  const stream = rawStream(url, "POST", { accept, "x-api-key": apiKey, "mcp-protocol-version": "2026-07-28" }, body);
  open.add(stream);
  return stream;
}

/** The notification stream of a new session. */
async function listenInSession(url: string, { apiKey } = team): Promise<RawStream> {
  const begun = await post(url, apiKey, {
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "listener", version: "1" } },
  });
  const stream = rawStream(url, "GET", {
    accept: "text/event-stream",
    "x-api-key": apiKey,
    "mcp-session-id": begun.headers.get("mcp-session-id") ?? "",
    "mcp-protocol-version": "2025-11-25",
  });
  open.add(stream);
  return stream;
}

/** Opens `count` streams, a hundred at a time, and waits until each has received `sign`. */
async function opened(count: number, one: () => RawStream | Promise<RawStream>, sign: string): Promise<RawStream[]> {
  const streams: RawStream[] = [];
  while (streams.length < count) {
    const some = await Promise.all(Array.from({ length: Math.min(100, count - streams.length) }, one));
    await Promise.all(some.map((stream) => stream.until(sign)));
    streams.push(...some);
  }
  return streams;
}

async function closed(streams: readonly RawStream[]): Promise<void> {
  for (const stream of streams) {
    stream.close();
    open.delete(stream);
  }
}

const each = (count: number) => count;
/** For each kind: the text that shows that a stream is open, and how many streams the server has for a number of subscribers. */
const KINDS = [
  ["stateless callers of a stateless server", "stateless", listen, "subscriptions/acknowledged", each],
  ["stateless callers of a handshake server", "handshake", listen, "subscriptions/acknowledged", () => 1],
  ["sessions with a handshake server", "handshake", listenInSession, "text/event-stream", each],
  ["sessions with a stateless server", "stateless", listenInSession, "text/event-stream", each],
] as const;

describe.each(KINDS)("%s", (name, dialect, one, sign, streamsOf) => {
  test(`${SUBSCRIPTIONS} of them each get a change once, within ${MAX_MB} MB`, async () => {
    const { server, url } = await newServer(dialect);
    const streams = await opened(SUBSCRIPTIONS, () => one(url), sign);
    await until(() => server.listening() === streamsOf(SUBSCRIPTIONS));
    server.tell(CHANGED);
    await Promise.all(streams.map((stream) => stream.until(CHANGED)));
    const mb = await heldMb();
    console.log(`${SUBSCRIPTIONS} ${name}: ${mb.toFixed(0)} MB resident`);
    server.tell("notifications/resources/updated", { uri: "test://elsewhere" });
    expect((await post(url, team.apiKey, stateless(1, "tools/list"))).status).toBe(200);
    expect(new Set(streams.map((stream) => stream.count(CHANGED)))).toEqual(new Set([1]));
    expect(mb).toBeLessThan(MAX_MB);
    await closed(streams);
    if (dialect === "stateless") await until(() => server.listening() === 0);
  });
});

describe.each(KINDS)("%s that do not read", (name, dialect, one, sign, streamsOf) => {
  test("do not grow the memory, and other listeners still get changes", async () => {
    const { server, url } = await newServer(dialect);
    const slow = await opened(10, () => one(url), sign);
    const before = await residentMb();
    await until(() => server.listening() === streamsOf(slow.length));
    for (const stream of slow) stream.stall();
    server.flood("notifications/resources/updated", { uri: "test://note", padding: "x".repeat(64 * 1024) }, FLOOD_MB * 16);
    const [reader] = await opened(1, () => one(url), sign);
    await until(() => server.listening() === streamsOf(slow.length + 1));
    server.tell(CHANGED);
    await reader?.until(CHANGED);
    let now = await residentMb();
    let most = now;
    while (now - before > SETTLED_GROWTH_MB) {
      await Bun.sleep(100);
      now = await residentMb();
      most = Math.max(most, now);
    }
    console.log(
      `10 ${name} that do not read ${FLOOD_MB} MB each: ${before.toFixed(0)} MB before, ${most.toFixed(0)} MB at most, then ${now.toFixed(0)} MB`,
    );
    expect(most - before).toBeLessThan(MAX_GROWTH_MB);
    await closed([...slow, ...(reader === undefined ? [] : [reader])]);
  });
});

describe.each(KINDS)("%s", (...[name, dialect, one, sign]) => {
  test("get an error when their access ends, and others still get changes", async () => {
    const { server, url } = await newServer(dialect);
    const { admin } = world;
    const revoked = await newTeam(admin, `revoked ${name}`);
    const barred = await newTeam(admin, `barred ${name}`);
    await grant(admin, `revoked ${name}`, url.split("/").at(-1) ?? "", [revoked.groupId]);
    const granted = await grant(admin, `barred ${name}`, url.split("/").at(-1) ?? "", [barred.groupId]);
    const streams = { revoked: await one(url, revoked), barred: await one(url, barred), other: await one(url) };
    await Promise.all(Object.values(streams).map((stream) => stream.until(sign)));
    expect((await admin.request("DELETE", `/v1/admin/api-keys/${revoked.apiKeyId}`)).status).toBe(200);
    expect((await admin.request("DELETE", `/v1/admin/server-configs/${granted.id}`)).status).toBe(204);
    await Promise.all([streams.revoked.until('"code":"access_ended"'), streams.barred.until('"code":"tool_server_not_allowed"')]);
    server.tell(CHANGED);
    await streams.other.until(CHANGED);
    expect([streams.revoked.count(CHANGED), streams.barred.count(CHANGED)]).toEqual([0, 0]);
    for (const [group, error] of [
      [revoked, "access_ended"],
      [barred, "tool_server_not_allowed"],
    ] as const)
      expect(await rowOf(admin, { resource_group_id: group.groupId, error_type: error })).toMatchObject({ success: false });
    await closed(Object.values(streams));
  });
});

test("a listener that stopped reading a shared stream gets each change after it resumes", async () => {
  const { server, url } = await newServer("handshake");
  const [slow, reader] = await opened(2, () => listen(url), "subscriptions/acknowledged");
  await until(() => server.listening() === 1);
  slow?.stall();
  server.flood("notifications/resources/updated", { uri: "test://note", padding: "x".repeat(64 * 1024) }, FLOOD_MB * 16);
  await until(() => server.taken());
  server.tell(CHANGED);
  await reader?.until(CHANGED);
  slow?.resume();
  await slow?.until(CHANGED);
  expect(slow?.count("resources/updated")).toBeGreaterThan(0);
  if (slow !== undefined && reader !== undefined) await closed([slow, reader]);
});
