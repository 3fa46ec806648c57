import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { ScriptedBrowser } from "../../support/identity/browser.ts";
import { type ScriptedIssuer, startScriptedIssuer, tokens } from "../../support/identity/scripted-issuer.ts";
import { startWorld, type World } from "../../support/world.ts";
import { grant, newTeam, post, stateless, type Team } from "./mcp-harness.ts";
import { begunAt, codeFor } from "./oauth-harness.ts";

let world: World;
let first: ScriptedIssuer;
let second: ScriptedIssuer;
let tools: ReturnType<typeof startToolServer>;
let serverId: string;
let team: Team;

/** A tool server that accepts every token except those in `refused`, and names both issuers. */
function startToolServer() {
  const refused = new Set<string>();
  const shown: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { origin, pathname } = new URL(request.url);
      if (pathname.startsWith("/.well-known/oauth-protected-resource"))
        return Response.json({ resource: `${origin}/mcp`, authorization_servers: [first.issuer, second.issuer] });
      const token = request.headers.get("authorization")?.slice(7) ?? "";
      if (token === "" || refused.has(token)) return new Response(null, { status: 401, headers: { "www-authenticate": "Bearer" } });
      shown.push(token);
      const { id } = (await request.json()) as { id: number };
      return Response.json({ jsonrpc: "2.0", id, result: { resultType: "complete", content: [] } });
    },
  });
  return { baseUrl: `http://127.0.0.1:${server.port}`, refused, shown, stop: () => server.stop(true) };
}

beforeAll(async () => {
  world = await startWorld();
  first = startScriptedIssuer();
  second = startScriptedIssuer();
  tools = startToolServer();
  team = await newTeam(world.admin, "renewing");
  serverId = (
    await world.admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: "renewing", base_url: tools.baseUrl, auth_type: "oauth" })
  ).id;
  await grant(world.admin, "renewing", serverId, [team.groupId]);
});
beforeEach(() => {
  for (const issuer of [first, second]) issuer.answer = () => tokens();
  tools.refused.clear();
});
afterAll(async () => {
  await Promise.all([first.stop(), second.stop(), tools.stop()]);
  await world.end();
});

const mcp = () => `${world.gateway.runtimeUrl}/v1/proxy/mcp/${serverId}`;
const call = (headers: Record<string, string>) =>
  post(mcp(), "", stateless(1, "tools/call", { name: "echo", arguments: {} }), {
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "echo",
    ...headers,
  });

async function newKey(): Promise<{ id: string; key: string }> {
  const made = await world.admin.post(`/v1/admin/resource-groups/${team.groupId}/api-keys`, {
    name: crypto.randomUUID(),
    access_mode: "shared",
  });
  return { id: made.id, key: made.key_value };
}

async function brokers(): Promise<string[]> {
  return ((await (await fetch(`${mcp()}/.well-known/oauth-protected-resource`)).json()) as any).authorization_servers;
}

/** The final page after connecting the key's account at the broker of one issuer. */
async function walked(key: string, broker: string): Promise<string> {
  const begun = await fetch(`${broker}/authorize?connect=`, { headers: { "x-api-key": key, accept: "application/json" } });
  const browser = new ScriptedBrowser("ada", key);
  browser.take(begun.headers.getSetCookie(), broker);
  return (await browser.walk(((await begun.json()) as any).authorize_url)).page;
}

async function connect(key: string, broker: string): Promise<void> {
  expect(await walked(key, broker)).toContain("Connected");
}

/** A key whose account is connected, but whose tokens its server no longer accepts. */
async function lapsed(): Promise<string> {
  const { key } = await newKey();
  await connect(key, (await brokers())[0] as string);
  expect((await call({ "x-api-key": key })).status).toBe(200);
  tools.refused.add(tools.shown.at(-1) as string);
  return key;
}

describe("a token renewal", () => {
  test.each([
    [429, "slow_down"],
    [429, "over_limit"],
    [400, "temporarily_unavailable"],
    [408, "timeout"],
    [404, "Not Found"],
    [403, "forbidden"],
    [401, "Unauthorized"],
  ])("with a temporary error of the issuer (%d %s) keeps the stored tokens", async (status, error) => {
    const key = await lapsed();
    first.answer = () => Response.json({ error }, { status });
    expect([(await call({ "x-api-key": key })).status, (await call({ "x-api-key": key })).status]).toEqual([502, 502]);
    first.answer = () => tokens();
    expect((await call({ "x-api-key": key })).status).toBe(200);
  });

  test.each([
    [400, "invalid_grant"],
    [200, "bad_refresh_token"],
    [403, "invalid_grant"],
  ])("that is refused (%d %s) asks the caller to authorize again", async (status, error) => {
    const key = await lapsed();
    first.answer = () => Response.json({ error }, { status });
    const answer = await call({ "x-api-key": key });
    expect([answer.status, answer.body.error.data.code]).toEqual([401, "upstream_authorization_required"]);
  });

  test("with an invalid client keeps the tokens if an administrator entered the client", async () => {
    const entered = (secret: string) =>
      world.admin.request("PUT", `/v1/admin/mcp-servers/${serverId}/oauth-client`, {
        issuer: first.issuer,
        client_id: "entered",
        client_secret: secret,
      });
    await entered("old");
    const key = await lapsed();
    first.answer = () => Response.json({ error: "invalid_client" }, { status: 401 });
    const answer = await call({ "x-api-key": key });
    expect([answer.status, answer.body.error.data.code]).toEqual([502, "upstream_auth_failed"]);
    await entered("new");
    first.answer = () => tokens();
    expect((await call({ "x-api-key": key })).status).toBe(200);
    await world.admin.request("DELETE", `/v1/admin/mcp-servers/${serverId}/oauth-client`);
  });

  test("of many callers at once with a slow issuer holds no database connections", async () => {
    const keys: string[] = [];
    for (let n = 0; n < 24; n++) keys.push(await lapsed());
    const first24 = first.seen.length;
    const { promise: allowed, resolve: allow } = Promise.withResolvers<void>();
    const { promise: asked, resolve: areAsked } = Promise.withResolvers<void>();
    let waiting = 0;
    first.answer = async () => {
      if (++waiting === keys.length) areAsked();
      await allowed;
      return tokens();
    };
    const calls = Promise.all(keys.map((key) => call({ "x-api-key": key })));
    await asked;
    // There are more waiting calls than database connections.
    expect((await world.admin.get("/v1/admin/mcp-servers")).mcp_servers.length).toBeGreaterThan(0);
    allow();
    expect([...new Set((await calls).map(({ status }) => status))]).toEqual([200]);
    expect(first.seen.slice(first24).filter(({ path }) => path === "/token").length).toBe(24);
  });

  test("does not restore an account removed meanwhile, and revokes the new token", async () => {
    const { key } = await newKey();
    const broker = (await brokers())[0] as string;
    const headers = { "x-api-key": key };
    await connect(key, broker);
    expect((await call(headers)).status).toBe(200);
    tools.refused.add(tools.shown.at(-1) as string);
    const { promise: allowed, resolve: allow } = Promise.withResolvers<void>();
    const { promise: asked, resolve: isAsked } = Promise.withResolvers<void>();
    first.answer = async () => {
      isAsked();
      await allowed;
      return tokens({ refresh_token: "renewed too late" });
    };
    const calling = call(headers);
    await asked;
    const [kept] = ((await (await fetch(`${broker}/tokens`, { headers })).json()) as any).tokens;
    expect((await fetch(`${broker}/tokens/${kept.id}`, { method: "DELETE", headers })).status).toBe(204);
    allow();
    expect((await calling).status).toBe(401);
    expect(((await (await fetch(`${broker}/tokens`, { headers })).json()) as any).tokens).toEqual([]);
    expect(first.seen.filter(({ path }) => path === "/revoke").map(({ values }) => values.token)).toContain("renewed too late");
  });

  test.each([1e300, 1e13])("with a lifetime of %d seconds stores a token that does not expire", async (seconds) => {
    const { key } = await newKey();
    first.answer = () => tokens({ expires_in: seconds });
    await connect(key, (await brokers())[0] as string);
    expect((await call({ "x-api-key": key })).status).toBe(200);
  });
});

test("a client registration the issuer has forgotten is renewed when a person starts again", async () => {
  const { key } = await newKey();
  const broker = (await brokers())[0] as string;
  await connect(key, broker);
  const registered = () => first.seen.filter(({ path }) => path === "/register").length;
  const before = registered();
  first.answer = () => Response.json({ error: "invalid_client" }, { status: 401 });
  expect(await walked(key, broker)).toContain("Begin again");
  first.answer = () => tokens();
  await connect(key, broker);
  expect(registered()).toBe(before + 1);
});

describe("tokens of one issuer are not sent to another issuer of the server", () => {
  test("when they are removed by their ID", async () => {
    const { key } = await newKey();
    const [one = "", other = ""] = await brokers();
    await connect(key, other);
    const headers = { "x-api-key": key };
    const [kept] = ((await (await fetch(`${other}/tokens`, { headers })).json()) as any).tokens;
    first.seen.length = second.seen.length = 0;
    const drop = async (broker: string, id: string) => (await fetch(`${broker}/tokens/${id}`, { method: "DELETE", headers })).status;
    expect([await drop(one, kept.id), await drop(other, "-".repeat(36)), await drop(other, kept.id)]).toEqual([404, 404, 204]);
    expect([first.seen.length, second.seen.map(({ path }) => path)]).toEqual([0, ["/revoke"]]);
  });

  test("when a client revokes them", async () => {
    const { key } = await newKey();
    const [one = "", other = ""] = await brokers();
    const client = await begunAt(world.gateway.runtimeUrl, serverId, key, undefined, other);
    const { body } = await client.redeem(await codeFor(client, "ada"));
    first.seen.length = second.seen.length = 0;
    expect((await fetch(`${one}/revoke`, { method: "POST", body: new URLSearchParams({ token: body.refresh_token }) })).status).toBe(200);
    expect([first.seen.length, second.seen.map(({ path }) => path)]).toEqual([0, ["/revoke"]]);
    expect((await call({ authorization: `Bearer ${body.access_token}` })).status).toBe(401);
  });
});

test("reuse of a refresh token revokes the tokens at the issuer", async () => {
  const { key } = await newKey();
  const client = await begunAt(world.gateway.runtimeUrl, serverId, key);
  const { body } = await client.redeem(await codeFor(client, "ada"));
  const refresh = () => client.redeem("", { grant_type: "refresh_token", refresh_token: body.refresh_token }, {});
  expect((await refresh()).status).toBe(200);
  first.seen.length = 0;
  expect((await refresh()).body.error).toBe("invalid_grant");
  expect(first.seen.map(({ path }) => path)).toEqual(["/revoke"]);
});

test("a client whose API key was rotated gets invalid_grant instead of a useless token", async () => {
  const { id, key } = await newKey();
  const client = await begunAt(world.gateway.runtimeUrl, serverId, key);
  const { body } = await client.redeem(await codeFor(client, "ada"));
  const refresh = (token: string) => client.redeem("", { grant_type: "refresh_token", refresh_token: token }, {});
  const next = await refresh(body.refresh_token);
  expect([next.status, (await call({ authorization: `Bearer ${next.body.access_token}` })).status]).toEqual([200, 200]);
  await world.admin.post(`/v1/admin/api-keys/${id}/rotate`, {});
  expect((await call({ authorization: `Bearer ${next.body.access_token}` })).status).toBe(401);
  const last = await refresh(next.body.refresh_token);
  expect([last.status, last.body.error]).toEqual([400, "invalid_grant"]);
});
