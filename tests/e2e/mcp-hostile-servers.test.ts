import { afterAll, beforeAll, expect, test } from "bun:test";
import { inSession, type OddServers, startOddServers } from "../support/odd-servers.ts";
import { startScriptedToolServer, toolNamed } from "../support/scripted-tool-server.ts";
import { grant, post, stateless, type Team } from "./mcp-harness.ts";
import type { World } from "../support/world.ts";

/** Servers that mean harm, or know no better. */
let odd: OddServers;
let world: World;
let team: Team;
let at: OddServers["at"];
let serve: OddServers["serve"];
let sessionAt: OddServers["sessionAt"];

beforeAll(async () => {
  odd = await startOddServers();
  ({ world, team, at, serve, sessionAt } = odd);
});
afterAll(() => odd.end());

test("an answer to another request is not passed on; one whose id is a text is", async () => {
  const { id } = await serve("confused", "handshake", (message) => {
    if (message?.method !== "tools/call") return undefined;
    const answered = message.params.name === "closed" ? 424_242 : String(message.id);
    return Response.json({ jsonrpc: "2.0", id: answered, result: { content: [] } });
  });
  const session = await sessionAt(id);
  const called = (name: string) => post(at(id), team.apiKey, inSession(1, "tools/call", { name }), session);
  const [open, closed] = [await called("open"), await called("closed")];
  expect([open.status, open.body.id, closed.status, closed.body.error.data.code]).toEqual([200, "1", 502, "upstream_invalid_response"]);
});

test("lists of a server that has more and more are not kept until memory is full", async () => {
  const pages: string[] = [];
  const { id } = await serve("large pages", "handshake", (message) => {
    if (message?.method !== "tools/list") return undefined;
    const { cursor = "0" } = message.params ?? {};
    pages.push(cursor);
    return { tools: [{ ...toolNamed(`tool_${cursor}`), title: "x".repeat(16 * 1024 * 1024) }], nextCursor: `${Number(cursor) + 1}` };
  });
  expect((await world.admin.post(`/v1/admin/mcp-servers/${id}/refresh-capabilities`, {})).status).toBe("inconclusive");
  // Registering it looked first.
  expect(pages).toEqual(["0", "1", "2", "3", "0", "1", "2", "3"]);
  const virtual = await world.admin.post("/v1/admin/virtual-servers", {
    tenant_id: "default",
    name: "large pages",
    members: [{ mcp_server_id: id, slug: "m" }],
    group_ids: [team.groupId],
  });
  const listed = await post(`${world.gateway.runtimeUrl}/v1/proxy/vmcp/${virtual.id}`, team.apiKey, stateless(1, "tools/list"));
  expect(listed.body.result).toMatchObject({ tools: [], _meta: { "dev.gatehouse/unavailable": ["m"] } });
  expect(pages.length).toBe(12);
});

test("a caller's own token at a virtual server is shown to the members it names alone, and otherwise to none", async () => {
  const shown: [string, string][] = [];
  const start = async (slug: string) => {
    const server = startScriptedToolServer("stateless", (message, { headers }) => {
      const token = headers.get("authorization");
      if (token !== null) shown.push([slug, token.slice(7)]);
      return message?.method === "tools/call" ? { resultType: "complete", content: [] } : undefined;
    });
    const { id } = await world.admin.post("/v1/admin/mcp-servers", {
      tenant_id: "default",
      name: `own token, ${slug}`,
      base_url: server.baseUrl,
      auth_type: "oauth",
    });
    await grant(world.admin, `own token, ${slug}`, id, [team.groupId]);
    return { id, slug, server };
  };
  const members = [await start("meant"), await start("hostile")];
  const [meant, hostile] = members as [(typeof members)[0], (typeof members)[0]];
  const virtual = await world.admin.post("/v1/admin/virtual-servers", {
    tenant_id: "default",
    name: "own tokens",
    members: members.map(({ id, slug }) => ({ mcp_server_id: id, slug })),
    group_ids: [team.groupId],
  });
  const url = `${world.gateway.runtimeUrl}/v1/proxy/vmcp/${virtual.id}`;
  const ask = async (address: string, token: string, message: object) => {
    shown.length = 0;
    const { body } = await post(address, team.apiKey, message, { authorization: `Bearer ${token}` });
    const unavailable = body.result?._meta?.["dev.gatehouse/unavailable"] ?? [];
    return { shown: [...new Set(shown.map(([slug, seen]) => `${slug} ${seen}`))], unavailable, failed: body.error !== undefined };
  };
  const jwt = (aud: unknown) => `e30.${Buffer.from(JSON.stringify({ aud })).toString("base64url")}.x`;
  const list = stateless(1, "tools/list");

  for (const token of ["opaque", jwt("tools"), jwt("https://elsewhere.example/")])
    expect(await ask(url, token, list)).toEqual({ shown: [], unavailable: ["meant", "hostile"], failed: false });
  const named = jwt(["tools", `${meant.server.baseUrl}/mcp`]);
  expect(await ask(url, named, list)).toEqual({ shown: [`meant ${named}`], unavailable: ["hostile"], failed: false });
  const called = (slug: string) => stateless(2, "tools/call", { name: `${slug}__open`, arguments: {} });
  expect(await ask(url, "opaque", called("hostile"))).toMatchObject({ shown: [], failed: true });
  expect(await ask(url, named, called("hostile"))).toMatchObject({ shown: [], failed: true });
  expect(await ask(url, named, called("meant"))).toMatchObject({ shown: [`meant ${named}`], failed: false });
  // Addressed by itself it is the one the token is for.
  expect(await ask(at(hostile.id), "opaque", list)).toMatchObject({ shown: ["hostile opaque"], failed: false });
  await Promise.all(members.map(({ server }) => server.stop()));
});
