import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client as SecondClient, StreamableHTTPClientTransport as SecondTransport } from "@modelcontextprotocol/client";
import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import { ElicitationCompleteNotificationSchema, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { rowOf } from "../../support/worlds/admin.ts";
import {
  type AuthorizationServerFixture,
  type ProtectedServerFixture,
  startAuthorizationServer,
  startProtectedServer,
} from "../../support/identity/authorization-server.ts";
import { ScriptedBrowser } from "../../support/identity/browser.ts";
import { startWorld, type World } from "../../support/world.ts";
import { begunAt, codeFor, RETURN } from "./oauth-harness.ts";
import { grant, newTeam, post, stateless, type Team, textOf } from "./mcp-harness.ts";

let world: World;
let at: AuthorizationServerFixture;
let old: ProtectedServerFixture;
let modern: ProtectedServerFixture;
let oldId: string;
let modernId: string;
let team: Team;

const gateway = () => world.gateway.runtimeUrl;
const begun = (id: string) => begunAt(gateway(), id, team.apiKey);
const mcp = (id: string) => `${gateway()}/v1/proxy/mcp/${id}`;

async function register(name: string, fixture: ProtectedServerFixture): Promise<string> {
  const made = await world.admin.post("/v1/admin/mcp-servers", {
    tenant_id: "default",
    name,
    base_url: fixture.baseUrl,
    auth_type: "oauth",
  });
  await grant(world.admin, `${name} for all`, made.id, [team.groupId]);
  return made.id;
}

beforeAll(async () => {
  world = await startWorld();
  old = startProtectedServer("handshake", () => at);
  modern = startProtectedServer("stateless", () => at);
  at = await startAuthorizationServer({ resources: () => [`${old.baseUrl}/mcp`, `${modern.baseUrl}/mcp`] });
  team = await newTeam(world.admin, "connected");
  oldId = await register("old protected", old);
  modernId = await register("new protected", modern);
});
afterAll(async () => {
  await at.stop();
  await old.stop();
  await modern.stop();
  await world.end();
});

/** What the official client stores about its authorization. */
class Keeper implements OAuthClientProvider {
  kept: { client?: any; tokens?: any; verifier?: string; sentTo?: URL } = {};
  readonly redirectUrl = RETURN;
  readonly clientMetadata = {
    client_name: "Official client",
    redirect_uris: [RETURN],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  };
  state = () => "the-client-state";
  clientInformation = () => this.kept.client;
  saveClientInformation = (client: any) => void (this.kept.client = client);
  tokens = () => this.kept.tokens;
  saveTokens = (tokens: any) => void (this.kept.tokens = tokens);
  redirectToAuthorization = (url: URL) => void (this.kept.sentTo = url);
  saveCodeVerifier = (verifier: string) => void (this.kept.verifier = verifier);
  codeVerifier = () => this.kept.verifier as string;
}

function officialTransport(id: string, keeper: Keeper, headers: Record<string, string>): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL(mcp(id)), { authProvider: keeper, requestInit: { headers } });
}

async function connected(id: string, keeper: Keeper, browser: ScriptedBrowser, headers: Record<string, string>): Promise<Client> {
  const transport = officialTransport(id, keeper, headers);
  const first = new Client({ name: "official", version: "1" });
  await expect(first.connect(transport as never)).rejects.toThrow("Unauthorized");
  const { url } = await browser.walk((keeper.kept.sentTo as URL).href, RETURN);
  expect(url.searchParams.get("state")).toBe("the-client-state");
  await transport.finishAuth(url.searchParams.get("code") as string);
  const client = new Client({ name: "official", version: "1" });
  await client.connect(officialTransport(id, keeper, headers) as never);
  return client;
}

describe("the first official client", () => {
  test("with an API key in its headers discovers, registers, authorizes and calls", async () => {
    const keeper = new Keeper();
    const client = await connected(oldId, keeper, new ScriptedBrowser("ada"), { "x-api-key": team.apiKey });
    expect(textOf(await client.callTool({ name: "echo", arguments: { text: "hi" } }))).toBe("old: hi");
    expect(old.callers.at(-1)).toMatchObject({ method: "echo", account: "ada" });
    expect(keeper.kept.tokens.access_token).toMatch(/^gwo_/);
    await client.close();
  });

  test("with the URL alone lets a person enter the key in the browser, and then needs only the token", async () => {
    const keeper = new Keeper();
    const client = await connected(oldId, keeper, new ScriptedBrowser("grace", team.apiKey), {});
    expect(textOf(await client.callTool({ name: "echo", arguments: { text: "hi" } }))).toBe("old: hi");
    expect(old.callers.at(-1)).toMatchObject({ account: "grace" });
    await client.close();
  });
});

describe("the second official client, which validates issuers,", () => {
  test.each([
    ["a server of its own protocol version", () => modernId, "new: hi"],
    ["a server of the other protocol version", () => oldId, "old: hi"],
  ])("authorizes at and calls %s", async (_name, id, echoed) => {
    const keeper = new Keeper();
    const transport = () => new SecondTransport(new URL(mcp(id())), { authProvider: keeper as never });
    const client = () => new SecondClient({ name: "second", version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
    const begins = transport();
    await expect(client().connect(begins)).rejects.toThrow("Unauthorized");
    const { url } = await new ScriptedBrowser("barbara", team.apiKey).walk((keeper.kept.sentTo as URL).href, RETURN);
    await begins.finishAuth(url.searchParams);
    const second = client();
    await second.connect(transport());
    expect(textOf(await second.callTool({ name: "echo", arguments: { text: "hi" } }))).toBe(echoed);
    await second.close();
  });

  test("authorizes for more scopes when a call needs them (step-up), and keeps the earlier ones", async () => {
    const keeper = new Keeper();
    const browser = new ScriptedBrowser("grace h", team.apiKey);
    const begins = new SecondTransport(new URL(mcp(modernId)), { authProvider: keeper as never });
    const client = () => new SecondClient({ name: "second", version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
    await expect(client().connect(begins)).rejects.toThrow("Unauthorized");
    await begins.finishAuth((await browser.walk((keeper.kept.sentTo as URL).href, RETURN)).url.searchParams);
    const transport = new SecondTransport(new URL(mcp(modernId)), { authProvider: keeper as never });
    const second = client();
    await second.connect(transport);
    modern.writing.add("secret");
    await expect(second.callTool({ name: "secret", arguments: {} })).rejects.toThrow();
    const wanted = (keeper.kept.sentTo as URL).searchParams.get("scope")?.split(" ") ?? [];
    expect([wanted.includes("tools:read"), wanted.includes("tools:write")]).toEqual([true, true]);
    await transport.finishAuth((await browser.walk((keeper.kept.sentTo as URL).href, RETURN)).url.searchParams);
    expect(textOf(await second.callTool({ name: "secret", arguments: {} }))).toBe("the secret");
    modern.writing.clear();
    await second.close();
  });

  test("makes the server's tools and protocol version known when it first connects", async () => {
    for (const [id, dialect] of [
      [oldId, "handshake"],
      [modernId, "stateless"],
    ]) {
      const server = await world.admin.get(`/v1/admin/mcp-servers/${id}`);
      expect([server.dialect, server.tools.some((tool: any) => tool.name === "echo")]).toEqual([dialect, true]);
    }
  });
});

describe("discovery documents", () => {
  test("name the gateway at every address a client may look at", async () => {
    const { broker } = await begun(oldId);
    const path = new URL(broker).pathname;
    expect(broker).toStartWith(`${gateway()}/v1/proxy/oauth/${oldId}/idp-`);
    for (const address of [
      `${mcp(oldId)}/.well-known/oauth-protected-resource`,
      `${gateway()}/.well-known/oauth-protected-resource/v1/proxy/mcp/${oldId}`,
      `${broker}/.well-known/oauth-protected-resource`,
    ]) {
      const document = await (await fetch(address)).json();
      expect(document).toMatchObject({
        resource: mcp(oldId),
        authorization_servers: [broker],
        scopes_supported: ["tools:read"],
        client_id_metadata_document_supported: true,
      });
    }
    for (const address of [
      `${mcp(oldId)}/.well-known/openid-configuration`,
      `${broker}/.well-known/openid-configuration`,
      `${gateway()}/.well-known/oauth-authorization-server${path}`,
      `${gateway()}/.well-known/openid-configuration${path}`,
    ]) {
      const document = await (await fetch(address)).json();
      expect(document).toMatchObject({
        issuer: broker,
        authorization_endpoint: `${broker}/authorize`,
        token_endpoint: `${broker}/token`,
        registration_endpoint: `${broker}/register`,
        revocation_endpoint: `${broker}/revoke`,
        code_challenge_methods_supported: ["S256"],
        jwks_uri: `${at.issuer}/jwks`,
      });
    }
  });

  test("are not found for servers that are unknown, need no authorization, or belong to a disabled tenant", async () => {
    const plain = await world.admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: "plain", base_url: "http://127.0.0.1:9" });
    for (const id of [plain.id, "mcp-01ARZ3NDEKTSV4RRFFQ69G5FAV"])
      expect((await fetch(`${mcp(id)}/.well-known/oauth-protected-resource`)).status).toBe(404);
    await world.admin.post("/v1/admin/tenants", { id: "closed", name: "Closed", enabled: false });
    const closed = await world.admin.post("/v1/admin/mcp-servers", {
      tenant_id: "closed",
      name: "closed",
      base_url: old.baseUrl,
      auth_type: "oauth",
    });
    expect((await fetch(`${mcp(closed.id)}/.well-known/oauth-protected-resource`)).status).toBe(404);
    const strange = await fetch(`${gateway()}/v1/proxy/oauth/${oldId}/idp-00000000000000000000/.well-known/openid-configuration`);
    expect(strange.status).toBe(404);
  });

  test("are named in the 401 of an unauthorized call, with a connect URL for a person", async () => {
    const stranger = await newTeam(world.admin, "stranger", { parent_group_id: team.groupId });
    const refused = await post(mcp(oldId), stranger.apiKey, { jsonrpc: "2.0", id: 1, method: "tools/list" });
    expect(refused.status).toBe(401);
    expect(refused.headers.get("www-authenticate")).toBe(
      `Bearer scope="tools:read", resource_metadata="${gateway()}/.well-known/oauth-protected-resource/v1/proxy/mcp/${oldId}"`,
    );
    expect(refused.body.error.data).toMatchObject({ code: "upstream_authorization_required", server_id: oldId });
    expect(refused.body.error.data.connect_url).toStartWith(`${gateway()}/v1/proxy/oauth/${oldId}/idp-`);
    const row = await rowOf(world.admin, { api_key_id: stranger.apiKeyId, error_type: "upstream_authorization_required" });
    expect(row).toMatchObject({ success: false, http_status_code: 401, server_id: oldId });
  });
});

describe("an administrator", () => {
  test("sees a server's and its issuers' metadata before registering it", async () => {
    const tried = await world.admin.post("/v1/admin/mcp-servers/test-connection", { tenant_id: "default", base_url: old.baseUrl });
    expect(tried).toMatchObject({
      status: "unauthorized",
      oauth: { resource: `${old.baseUrl}/mcp`, authorization_servers: [at.issuer], problem: null },
    });
    expect(tried.oauth.identity_providers[0]).toMatchObject({
      issuer: at.issuer,
      usable: true,
      problem: null,
      token_endpoint: `${at.issuer}/token`,
      dynamic_client_registration: true,
      names_itself_in_answers: true,
    });
  });

  test("enters a client if the issuer registers none, and its secret is not shown again", async () => {
    const strict = await startAuthorizationServer({
      resources: () => [`${shut.baseUrl}/mcp`],
      registration: false,
      clients: [
        {
          client_id: "entered",
          client_secret: "the-secret-entered-for-it",
          redirect_uris: ["https://placeholder.example/"],
          grant_types: ["authorization_code", "refresh_token"],
        },
      ],
    });
    const shut = startProtectedServer("stateless", () => strict);
    const made = await register("shut", shut);
    const path = `/v1/admin/mcp-servers/${made}/oauth-client`;
    expect((await world.admin.request("GET", path)).status).toBe(404);
    const put = await world.admin.request("PUT", path, {
      issuer: strict.issuer,
      client_id: "entered",
      client_secret: "the-secret-entered-for-it",
      scopes: ["tools:read"],
    });
    expect([put.status, put.body.has_client_secret, put.body.scopes]).toEqual([200, true, ["tools:read"]]);
    expect(
      JSON.stringify([put.body, await world.admin.get(path), await world.admin.get("/v1/admin/admin-log?page_size=200")]),
    ).not.toContain("the-secret-entered");
    const client = await begun(made);
    expect(new URL(client.broker).pathname).toEndWith(`/${put.body.idp_server_id}`);
    await new ScriptedBrowser("ada").walk(client.authorizeUrl());
    const asked = strict.seen.find((one) => one.path === "/auth");
    expect(asked?.values).toMatchObject({
      client_id: "entered",
      redirect_uri: `${client.broker}/callback`,
      resource: `${shut.baseUrl}/mcp`,
      code_challenge_method: "S256",
    });
    expect(
      (
        await world.admin.request("PUT", path, {
          issuer: strict.issuer,
          client_id: "another",
          token_endpoint_auth_method: "client_secret_post",
        })
      ).body.fields[0].field,
    ).toBe("token_endpoint_auth_method");
    expect((await world.admin.request("DELETE", path)).status).toBe(204);
    await shut.stop();
    await strict.stop();
  });

  test("a caller without a credential gets the URL of the discovery document", async () => {
    const refused = await fetch(mcp(oldId), { method: "POST", body: "{}" });
    expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([
      401,
      `Bearer resource_metadata="${gateway()}/.well-known/oauth-protected-resource/v1/proxy/mcp/${oldId}"`,
    ]);
  });
});

describe("a client with URL elicitation", () => {
  test("gets the connect URL, and its repeated call succeeds with the connected account", async () => {
    const asker = await newTeam(world.admin, "asker", { parent_group_id: team.groupId });
    const call = stateless(1, "tools/call", { name: "echo", arguments: { text: "hi" } });
    (call.params._meta as any)["io.modelcontextprotocol/clientCapabilities"] = { elicitation: { url: {} } };
    const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "echo" };
    const asked = await post(mcp(modernId), asker.apiKey, call, headers);
    expect(asked.status).toBe(200);
    const { resultType, inputRequests, requestState } = asked.body.result;
    const question = inputRequests.gateway_connect;
    expect([resultType, question.method, question.params.mode]).toEqual(["input_required", "elicitation/create", "url"]);

    const wrong = await new ScriptedBrowser("eve", team.apiKey).walk(question.params.url);
    expect(wrong.page).toContain("not the API key that the link was made for");
    const { page } = await new ScriptedBrowser("linus", asker.apiKey).walk(question.params.url);
    expect(page).toContain("is connected");

    const repeated = {
      ...call,
      id: 2,
      params: { ...call.params, requestState, inputResponses: { gateway_connect: { action: "accept" } } },
    };
    const answered = await post(mcp(modernId), asker.apiKey, repeated, headers);
    expect(textOf(answered.body.result)).toBe("new: hi");
    expect(modern.callers.at(-1)).toMatchObject({ method: "echo", account: "linus" });

    const declined = await post(
      mcp(oldId),
      asker.apiKey,
      { ...repeated, id: 3, params: { ...repeated.params, inputResponses: { gateway_connect: { action: "decline" } } } },
      headers,
    );
    expect(declined.status).toBe(401);
  });

  test("tokens of one server are never sent to another", () => {
    const shown = new Set(old.callers.map(({ token }) => token));
    expect(modern.callers.some(({ token }) => shown.has(token))).toBe(false);
    expect([...old.refused, ...modern.refused]).toEqual([]);
  });
});

describe("stored tokens", () => {
  test("are listed without secrets, and deletion revokes them at the issuer", async () => {
    const owner = await newTeam(world.admin, "owner", { parent_group_id: team.groupId });
    const client = await begun(oldId);
    const { body } = await client.redeem(await codeFor(client, "owner"), {}, { "x-api-key": owner.apiKey });
    const list = async (key: string) => (await (await fetch(`${client.broker}/tokens`, { headers: { "x-api-key": key } })).json()) as any;
    const { tokens, total } = await list(owner.apiKey);
    expect([total, tokens[0].mcp_server_id, tokens[0].issuer, tokens[0].has_refresh_token]).toEqual([1, oldId, at.issuer, true]);
    expect(JSON.stringify(tokens)).not.toContain("sealed");
    const call = (key: Record<string, string>) =>
      fetch(mcp(oldId), {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...key },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "initialize",
          params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } },
        }),
      });
    expect((await call({ authorization: `Bearer ${body.access_token}` })).status).toBe(200);
    const upstream = old.callers.at(-1)?.token as string;
    const remove = (id: string, key: string) => fetch(`${client.broker}/tokens/${id}`, { method: "DELETE", headers: { "x-api-key": key } });
    expect((await remove(tokens[0].id, team.apiKey)).status).toBe(404);
    expect((await remove(tokens[0].id, owner.apiKey)).status).toBe(204);
    expect((await list(owner.apiKey)).total).toBe(0);
    expect(await at.check(upstream)).toBeNull();
    expect((await call({ authorization: `Bearer ${body.access_token}` })).status).toBe(401);
    expect((await fetch(`${client.broker}/tokens`)).status).toBe(401);
  });

  test("of another account start a new session at the server", async () => {
    const sharer = await newTeam(world.admin, "sharer", { parent_group_id: team.groupId });
    const begins = () =>
      old.callers
        .filter(({ method, account }) => method === "initialize" && ["first account", "second account"].includes(account))
        .map(({ account }) => account);
    for (const account of ["first account", "first account", "second account"]) {
      const client = await begun(oldId);
      await client.redeem(await codeFor(client, account), {}, { "x-api-key": sharer.apiKey });
      for (let n = 0; n < 2; n++)
        expect(
          (await post(mcp(oldId), sharer.apiKey, stateless(1, "tools/call", { name: "echo", arguments: { text: "hi" } }))).status,
        ).toBe(200);
    }
    expect(begins()).toEqual(["first account", "first account", "second account"]);
  });

  test("are renewed once for many concurrent calls", async () => {
    const many = await newTeam(world.admin, "many", { parent_group_id: team.groupId });
    const client = await begun(modernId);
    at.accessSeconds = 20;
    await client.redeem(await codeFor(client, "many"), {}, { "x-api-key": many.apiKey });
    at.accessSeconds = 3600;
    const before = at.seen.filter(({ path, values }) => path === "/token" && values.grant_type === "refresh_token").length;
    const call = () =>
      post(mcp(modernId), many.apiKey, stateless(1, "tools/call", { name: "echo", arguments: { text: "hi" } }), {
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "echo",
      });
    const answers = await Promise.all(Array.from({ length: 20 }, call));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    const renewals = at.seen.filter(({ path, values }) => path === "/token" && values.grant_type === "refresh_token");
    expect(renewals.length - before).toBe(1);
    expect(renewals.at(-1)?.values.resource).toBe(`${modern.baseUrl}/mcp`);
  });

  test("with too few scopes are requested again with the earlier scopes included", async () => {
    const climber = await newTeam(world.admin, "climber", { parent_group_id: team.groupId });
    const client = await begun(modernId);
    await client.redeem(await codeFor(client, "climber"), {}, { "x-api-key": climber.apiKey });
    modern.writing.add("secret");
    const call = () =>
      post(mcp(modernId), climber.apiKey, stateless(1, "tools/call", { name: "secret", arguments: {} }), {
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "secret",
      });
    const refused = await call();
    expect(refused.status).toBe(403);
    const challenge = refused.headers.get("www-authenticate") ?? "";
    expect(challenge).toContain('error="insufficient_scope"');
    expect(challenge).toContain("tools:read");
    expect(challenge).toContain("tools:write");
    expect(challenge).toContain(`resource_metadata="${gateway()}/.well-known/oauth-protected-resource/v1/proxy/mcp/${modernId}"`);
    const { page } = await new ScriptedBrowser("climber", climber.apiKey).walk(refused.body.error.data.connect_url);
    expect(page).toContain("is connected");
    expect((await call()).status).toBe(200);
    modern.writing.clear();
  });
});

test("a handshake client with URL elicitation gets the connect URL on the stream of its call, also at a virtual server", async () => {
  const asker = await newTeam(world.admin, "held", { parent_group_id: team.groupId });
  const client = new Client({ name: "first", version: "1" }, { capabilities: { elicitation: { url: {} } } });
  const completed: string[] = [];
  let answer: "accept" | "decline" = "decline";
  client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
    if (answer === "accept" && params.mode === "url") await new ScriptedBrowser("held", asker.apiKey).walk(params.url);
    return { action: answer };
  });
  client.setNotificationHandler(ElicitationCompleteNotificationSchema, ({ params }) => void completed.push(params.elicitationId));
  const virtual = await world.admin.post("/v1/admin/virtual-servers", {
    tenant_id: "default",
    name: "held",
    members: [{ mcp_server_id: modernId, slug: "m" }],
    group_ids: [team.groupId],
  });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${gateway()}/v1/proxy/vmcp/${virtual.id}`), {
      requestInit: { headers: { "x-api-key": asker.apiKey } },
    }) as never,
  );
  const refused = await client.callTool({ name: "m__echo", arguments: { text: "no" } }).catch((error) => error);
  expect([refused.code, refused.data.code]).toEqual([4031, "upstream_authorization_required"]);
  answer = "accept";
  expect(JSON.stringify(await client.callTool({ name: "m__echo", arguments: { text: "connected now" } }))).toContain("connected now");
  expect(completed).toHaveLength(1);
  await client.close();
});
