import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startWorld, type World } from "../../support/world.ts";
import { grant, newTeam, post, stateless, type Team } from "./mcp-harness.ts";

const PAGE = "https://pages.example";

let world: World;
let team: Team;
let id: string;
let broker: string;

/** A stateless server with OAuth that accepts one token, and claims to be its own issuer. */
const upstream = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const { pathname, origin } = new URL(request.url);
    if (pathname.startsWith("/.well-known/oauth-protected-resource"))
      return Response.json({ resource: `${origin}/mcp`, authorization_servers: [origin] });
    if (pathname.startsWith("/.well-known/"))
      return Response.json({
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        code_challenge_methods_supported: ["S256"],
        response_types_supported: ["code"],
        authorization_response_iss_parameter_supported: true,
      });
    if (request.headers.get("authorization") !== "Bearer the-right-token")
      return new Response(null, { status: 401, headers: { "www-authenticate": "Bearer" } });
    if (request.method === "GET") return new Response(null, { status: 405 });
    const { id: asked, method } = (await request.json()) as any;
    const result =
      method === "server/discover"
        ? { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } }
        : { tools: [{ name: "echo", inputSchema: { type: "object" } }] };
    return Response.json({ jsonrpc: "2.0", id: asked, result: { resultType: "complete", ttlMs: 0, cacheScope: "private", ...result } });
  },
});

beforeAll(async () => {
  world = await startWorld({ GW_MCP_ALLOWED_ORIGINS: PAGE });
  team = await newTeam(world.admin, "pages");
  id = (
    await world.admin.post("/v1/admin/mcp-servers", {
      tenant_id: "default",
      name: "guarded",
      auth_type: "oauth",
      base_url: `http://127.0.0.1:${upstream.port}`,
    })
  ).id;
  await grant(world.admin, "guarded", id, [team.groupId]);
  broker = ((await (await fetch(`${world.gateway.runtimeUrl}/v1/proxy/mcp/${id}/.well-known/oauth-protected-resource`)).json()) as any)
    .authorization_servers[0];
});
afterAll(async () => {
  await upstream.stop(true);
  await world.end();
});

const server = () => `${world.gateway.runtimeUrl}/v1/proxy/mcp/${id}`;
const asks = (url: string, origin: string, headers: string, method = "POST") =>
  fetch(url, {
    method: "OPTIONS",
    headers: { origin, "access-control-request-method": method, "access-control-request-headers": headers },
  });
const reader = (response: Response) => response.headers.get("access-control-allow-origin");

describe("CORS", () => {
  test("lets a page of an allowed origin call tool servers and the OAuth broker", async () => {
    for (const url of [
      server(),
      `${world.gateway.runtimeUrl}/v1/proxy/vmcp/any`,
      `${broker}/token`,
      `${broker}/register`,
      `${broker}/revoke`,
    ]) {
      const answer = await asks(url, PAGE, "Content-Type, Mcp-Method, mcp-param-Region, X-API-Key, Cookie-Thing");
      expect([
        answer.status,
        reader(answer),
        answer.headers.get("access-control-allow-headers"),
        answer.headers.get("access-control-allow-credentials"),
      ]).toEqual([204, PAGE, "content-type, mcp-method, mcp-param-region, x-api-key", null]);
    }
    const registered = await fetch(`${broker}/register`, {
      method: "POST",
      headers: { origin: PAGE, "content-type": "application/json" },
      body: JSON.stringify({ client_name: "A page", redirect_uris: [`${PAGE}/callback`] }),
    });
    expect([registered.status, reader(registered), registered.headers.get("vary")]).toEqual([201, PAGE, "origin"]);
    const refused = await fetch(server(), { method: "POST", headers: { origin: PAGE, "content-type": "application/json" }, body: "{}" });
    expect([refused.status, reader(refused)]).toEqual([401, PAGE]);
    expect(refused.headers.get("access-control-expose-headers")).toContain("www-authenticate");
    for (const [path, values] of [
      ["token", { grant_type: "authorization_code", code: "no" }],
      ["revoke", { token: "no" }],
    ] as const)
      expect(
        reader(await fetch(`${broker}/${path}`, { method: "POST", headers: { origin: PAGE }, body: new URLSearchParams(values) })),
      ).toBe(PAGE);
  });

  test("lets a page of any other origin read the discovery documents only", async () => {
    const other = "https://other.example";
    for (const url of [
      `${server()}/.well-known/oauth-protected-resource`,
      `${broker}/.well-known/openid-configuration`,
      broker.replace("/v1/", "/.well-known/oauth-authorization-server/v1/"),
    ]) {
      expect([
        (await asks(url, other, "mcp-protocol-version", "GET")).status,
        reader(await fetch(url, { headers: { origin: other } })),
      ]).toEqual([204, "*"]);
    }
    for (const url of [server(), `${broker}/token`, `${world.gateway.runtimeUrl}/v1/proxy/llm/models`]) {
      const answer = await asks(url, other, "content-type");
      expect([answer.status, reader(answer)]).toEqual([405, null]);
    }
    for (const path of ["authorize", "callback"])
      expect(reader(await fetch(`${broker}/${path}`, { headers: { origin: other }, redirect: "manual" }))).toBe(null);
    expect(
      reader(await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/models`, { headers: { origin: PAGE, "x-api-key": team.apiKey } })),
    ).toBe(null);
    expect(reader(await fetch(server(), { method: "POST", headers: { "x-api-key": team.apiKey }, body: "{}" }))).toBe(null);
  });
});

test("a server behind OAuth is discovered with an access token given for it, which is not stored", async () => {
  const path = `/v1/admin/mcp-servers/${id}/refresh-capabilities`;
  expect((await world.admin.post(path, {})).status).toBe("unauthorized");
  expect((await world.admin.post(path, { access_token: "the-wrong-token" })).status).toBe("unauthorized");
  expect((await world.admin.request("POST", path, { access_token: "two words" })).body.fields[0].field).toBe("access_token");
  const found = await world.admin.post(path, { access_token: "the-right-token" });
  expect([found.status, found.diff.added, found.server.dialect]).toEqual(["found", ["echo"], "stateless"]);
  expect((await world.admin.post(path, {})).status).toBe("unauthorized");
  expect(JSON.stringify(await world.admin.get("/v1/admin/admin-log?page_size=200"))).not.toContain("the-right-token");
});

test("at a virtual server a caller not connected to a member gets its connect URL, and no member's token is accepted", async () => {
  const virtual = await world.admin.post("/v1/admin/virtual-servers", {
    tenant_id: "default",
    name: "around",
    members: [{ mcp_server_id: id, slug: "g" }],
    group_ids: [team.groupId],
  });
  const address = `${world.gateway.runtimeUrl}/v1/proxy/vmcp/${virtual.id}`;
  const refused = await post(address, team.apiKey, stateless(1, "tools/call", { name: "g__echo", arguments: {} }));
  expect([refused.status, refused.body.error.data.code, refused.headers.get("www-authenticate")]).toEqual([
    401,
    "upstream_authorization_required",
    "Bearer",
  ]);
  expect(refused.body.error.data.connect_url).toStartWith(`${broker}/authorize?connect=`);
  const shown = stateless(1, "tools/call", { name: "g__echo", arguments: {} });
  (shown.params._meta as any)["io.modelcontextprotocol/clientCapabilities"] = { elicitation: { url: {} } };
  expect((await post(address, team.apiKey, shown)).body.result.inputRequests.gateway_connect.params.url).toStartWith(
    `${broker}/authorize?connect=`,
  );
  const strange = await fetch(address, {
    method: "POST",
    headers: { authorization: "Bearer gwo_v1.AAAA.BBBB", "content-type": "application/json" },
    body: JSON.stringify(shown),
  });
  expect([strange.status, strange.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
});

test("only a server behind OAuth tells a caller without a credential where to authorize", async () => {
  const { id: plain } = await world.admin.post("/v1/admin/mcp-servers", {
    tenant_id: "default",
    name: "without oauth",
    base_url: `http://127.0.0.1:${upstream.port}/elsewhere`,
  });
  const challenge = async (serverId: string) => {
    const answer = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/mcp/${serverId}`, { method: "POST", body: "{}" });
    expect(answer.status).toBe(401);
    return answer.headers.get("www-authenticate");
  };
  const document = `${world.gateway.runtimeUrl}/.well-known/oauth-protected-resource/v1/proxy/mcp/${id}`;
  expect(await challenge(id)).toBe(`Bearer resource_metadata="${document}"`);
  expect(await challenge(plain)).toBe("Bearer");
  expect(await challenge(`mcp-${"0".repeat(26)}`)).toBe("Bearer");
});
