import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rowsOf } from "../../support/worlds/admin.ts";
import {
  type AuthorizationServerFixture,
  type ProtectedServerFixture,
  startAuthorizationServer,
  startProtectedServer,
} from "../../support/identity/authorization-server.ts";
import { ScriptedBrowser } from "../../support/identity/browser.ts";
import { type Liar, startLiar } from "../../support/identity/lying-issuer.ts";
import { startWorld, type World } from "../../support/world.ts";
import { grant, newTeam, type Team } from "./mcp-harness.ts";
import { type Begun, begunAt, codeFor, echoAt, RETURN } from "./oauth-harness.ts";

let world: World;
let at: AuthorizationServerFixture;
let liar: Liar;
let first: ProtectedServerFixture;
let second: ProtectedServerFixture;
let deceived: ProtectedServerFixture;
let firstId: string;
let secondId: string;
let deceivedId: string;
let team: Team;

const gateway = () => world.gateway.runtimeUrl;
const mcp = (id: string) => `${gateway()}/v1/proxy/mcp/${id}`;
const begun = (id = firstId, redirectUri = RETURN) => begunAt(gateway(), id, team.apiKey, redirectUri);
const call = (id: string, headers: Record<string, string>) => echoAt(mcp(id), headers);
const ask = (address: string, headers: Record<string, string> = {}) => fetch(address, { redirect: "manual", headers });

async function register(name: string, fixture: ProtectedServerFixture): Promise<string> {
  const server = { tenant_id: "default", name, base_url: fixture.baseUrl, auth_type: "oauth" };
  const { id } = await world.admin.post("/v1/admin/mcp-servers", server);
  await grant(world.admin, `${name} for all`, id, [team.groupId]);
  return id;
}

/** A separate server for each false statement about it, because metadata is cached. */
async function serverOf(document: Record<string, unknown>): Promise<string> {
  const fixture = startProtectedServer("stateless", () => at);
  fixture.document = document;
  others.push(fixture);
  return register(`server ${crypto.randomUUID()}`, fixture);
}

const others: ProtectedServerFixture[] = [];

beforeAll(async () => {
  world = await startWorld();
  first = startProtectedServer("stateless", () => at);
  second = startProtectedServer("stateless", () => at);
  deceived = startProtectedServer("stateless", () => at);
  at = await startAuthorizationServer({ resources: () => [first, second].map(({ baseUrl }) => `${baseUrl}/mcp`) });
  liar = startLiar();
  deceived.document = { authorization_servers: [liar.issuer] };
  team = await newTeam(world.admin, "team");
  firstId = await register("first", first);
  secondId = await register("second", second);
  deceivedId = await register("deceived", deceived);
});
afterAll(async () => {
  await Promise.all([at.stop(), liar.stop(), first.stop(), second.stop(), deceived.stop(), ...others.map((other) => other.stop())]);
  await world.end();
});

describe("false metadata is refused", () => {
  test.each([
    ["another issuer's name", { issuer: "https://accounts.example" }],
    ["a name that differs by a trailing slash", "slash"],
    ["no PKCE support", { code_challenge_methods_supported: undefined }],
    ["plain PKCE only", { code_challenge_methods_supported: ["plain"] }],
    ["a javascript: authorization endpoint", { authorization_endpoint: "javascript:alert(1)" }],
    ["an endpoint URL with a password", { token_endpoint: "https://user:secret@accounts.example/token" }],
  ])("of an issuer: %s", async (_name, document) => {
    const own = startLiar();
    own.document = document === "slash" ? { issuer: `${own.issuer}/` } : (document as Record<string, unknown>);
    const id = await serverOf({ authorization_servers: [own.issuer] });
    const answer = await ask(`${mcp(id)}/.well-known/openid-configuration`);
    expect([answer.status, ((await answer.json()) as any).error]).toEqual([502, "temporarily_unavailable"]);
    expect(own.asked).not.toContain("/register");
    await own.stop();
  });

  test.each([
    ["another host", { resource: "https://mail.example/mcp" }],
    ["another path", { resource: "/other" }],
    ["no issuer", { authorization_servers: [] }],
    ["a file: URL as issuer", { authorization_servers: ["file:///etc/passwd"] }],
  ])("of a server: %s", async (_name, document) => {
    const id = await serverOf(document);
    expect((await ask(`${mcp(id)}/.well-known/oauth-protected-resource`)).status).toBe(502);
  });
});

describe("an issuer that does not identify itself in its responses", () => {
  test("gets clients registered and sent to it directly, for the right resource; calls then also need an API key", async () => {
    const own = startLiar();
    own.document = { authorization_response_iss_parameter_supported: undefined };
    const fixture = startProtectedServer("stateless", () => at);
    others.push(fixture);
    fixture.document = { authorization_servers: [own.issuer] };
    const made = await world.admin.post("/v1/admin/mcp-servers", {
      tenant_id: "default",
      name: "straight",
      base_url: fixture.baseUrl,
      auth_type: "oauth",
    });
    await grant(world.admin, "straight for all", made.id, [team.groupId]);
    const client = await begun(made.id);
    expect(client.clientId).toBe("gateway-at-liar");
    const to = new URL((await ask(client.authorizeUrl())).headers.get("location") as string);
    expect([
      to.origin,
      to.pathname,
      to.searchParams.get("client_id"),
      to.searchParams.get("redirect_uri"),
      to.searchParams.get("resource"),
      to.searchParams.get("state"),
    ]).toEqual([own.issuer, "/authorize", "gateway-at-liar", RETURN, `${fixture.baseUrl}/mcp`, "s"]);
    const { body } = await client.redeem("their code");
    expect(body.access_token).toBe("token-of-liar");
    expect((await call(made.id, { "x-api-key": team.apiKey, authorization: "Bearer token-of-liar" })).status).toBe(401);
    expect(fixture.refused).toEqual(["token-of-liar"]);
    await own.stop();
  });
});

describe("an authorization response (mix-up)", () => {
  test.each([
    ["without iss, though the issuer announces it", { code: "c" }],
    ["with another iss", { code: "c", iss: "https://accounts.example" }],
    ["with an iss that differs by a trailing slash", "slash"],
    ["with an error and another iss", { error: "access_denied", error_description: "call this number", iss: "https://accounts.example" }],
  ])("is refused %s", async (_name, answer) => {
    liar.answer = answer === "slash" ? { code: "c", iss: `${liar.issuer}/` } : (answer as Record<string, string>);
    const before = liar.asked.filter((path) => path === "/token").length;
    const { url, page, status } = await new ScriptedBrowser("ada").walk((await begun(deceivedId)).authorizeUrl(), RETURN);
    expect([status, url.href.startsWith(RETURN)]).toEqual([400, false]);
    expect(page).not.toContain("call this number");
    expect(liar.asked.filter((path) => path === "/token").length).toBe(before);
  });

  test("with the right iss is accepted, and the client gets the gateway's iss", async () => {
    liar.answer = { code: "c", iss: liar.issuer };
    const client = await begun(deceivedId);
    const { url } = await new ScriptedBrowser("ada").walk(client.authorizeUrl(), RETURN);
    expect([url.searchParams.get("iss"), url.searchParams.get("state")]).toEqual([client.broker, "s"]);
  });
});

describe("the authorization flow in the browser", () => {
  test("is bound to one browser: its callback URL fails in another", async () => {
    const client = await begun();
    const browser = new ScriptedBrowser("ada");
    await browser.walk(client.authorizeUrl(), RETURN);
    const caught = browser.visited.find((address) => address.includes("/callback?")) as string;
    const victim = await new ScriptedBrowser("victim").ask(caught);
    expect([victim.status, victim.headers.get("location")]).toEqual([400, null]);
    expect((await ask(`${client.broker}/callback?code=c&state=made-up`)).status).toBe(400);
  });

  test("asks for consent every time, for each client (confused deputy)", async () => {
    const browser = new ScriptedBrowser("ada");
    await browser.walk((await begun()).authorizeUrl(), RETURN);
    const evil = await begun(firstId, "https://evil.example/cb");
    const page = await browser.ask(evil.authorizeUrl({ redirect_uri: "https://evil.example/cb" }));
    expect([page.status, page.headers.get("location")]).toEqual([200, null]);
    expect(await page.text()).toContain("evil.example");
    expect(page.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(page.headers.get("x-frame-options")).toBe("DENY");
  });

  test("refuses a consent submitted by another page", async () => {
    const client = await begun();
    const page = await (await ask(client.authorizeUrl())).text();
    const request = /name="request" value="([^"]+)"/.exec(page)?.[1] as string;
    const send = (headers: Record<string, string>) =>
      fetch(`${client.broker}/authorize`, {
        method: "POST",
        redirect: "manual",
        headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
        body: new URLSearchParams({ request, decision: "allow" }).toString(),
      });
    expect((await send({})).status).toBe(400);
    const shown = await ask(client.authorizeUrl());
    const cookie = (shown.headers.get("set-cookie") as string).split(";")[0] as string;
    expect(shown.headers.get("set-cookie")).toMatch(/HttpOnly; SameSite=Lax/);
    expect((await send({ cookie })).status).toBe(400);
    const own = /name="request" value="([^"]+)"/.exec(await shown.text())?.[1] as string;
    const foreign = await fetch(`${client.broker}/authorize`, {
      method: "POST",
      redirect: "manual",
      headers: { cookie, origin: "https://evil.example", "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ request: own, decision: "allow" }).toString(),
    });
    expect(foreign.status).toBe(400);
  });

  test("returns access_denied to the client without contacting the issuer if the person declines", async () => {
    const client = await begun();
    const shown = await ask(client.authorizeUrl());
    const cookie = (shown.headers.get("set-cookie") as string).split(";")[0] as string;
    const request = /name="request" value="([^"]+)"/.exec(await shown.text())?.[1] as string;
    const denied = await fetch(`${client.broker}/authorize`, {
      method: "POST",
      redirect: "manual",
      headers: { cookie, "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ request, decision: "deny" }).toString(),
    });
    const to = new URL(denied.headers.get("location") as string);
    expect([to.origin + to.pathname, to.searchParams.get("error"), to.searchParams.get("iss")]).toEqual([
      RETURN,
      "access_denied",
      client.broker,
    ]);
  });
});

describe("redirect URIs (open redirect)", () => {
  test.each([
    "https://evil.example/callback",
    `${RETURN}/more`,
    `${RETURN}?x=1`,
    "http://127.0.0.1.evil.example:1/callback",
    "http://localhost:1/callback",
    "http://127.0.0.1:1@evil.example/callback",
    "javascript:alert(1)",
    "//evil.example/callback",
  ])("%s is refused for a client that did not register it", async (redirect) => {
    const answer = await ask((await begun()).authorizeUrl({ redirect_uri: redirect }));
    expect([answer.status, answer.headers.get("location")]).toEqual([400, null]);
  });

  test("a loopback redirect URI may use any port", async () => {
    const page = await ask((await begun()).authorizeUrl({ redirect_uri: "http://127.0.0.1:5555/callback" }));
    expect(page.status).toBe(200);
  });

  test.each([
    "http://app.example/cb",
    "javascript:alert(1)",
    "data:text/html,x",
    "https://app.example/cb#part",
    "https://user@app.example/cb",
    "not an address",
    "http://127.0.0.1.evil.example/cb",
  ])("%s cannot be registered", async (redirect) => {
    const { broker } = await begun();
    const answer = await fetch(`${broker}/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ redirect_uris: [redirect] }),
    });
    expect([answer.status, ((await answer.json()) as any).error]).toEqual([400, "invalid_redirect_uri"]);
  });

  test("a registration with ambiguous member names is refused", async () => {
    const { broker } = await begun();
    for (const text of [
      `{"redirect_uris":["${RETURN}"],"Redirect_Uris":["https://app.example/cb"]}`,
      `{"REDIRECT_URIS":["${RETURN}"]}`,
      `{"redirect_uriſ":["${RETURN}"]}`,
      `{"redirect_uris":["${RETURN}"],"redirect_uris":["https://app.example/cb"]}`,
    ]) {
      const answer = await fetch(`${broker}/register`, { method: "POST", headers: { "content-type": "application/json" }, body: text });
      expect([text, answer.status, ((await answer.json()) as any).error]).toEqual([text, 400, "ambiguous_name"]);
    }
  });

  test("a client ID of another server or a forged one is refused", async () => {
    const elsewhere = await begun(secondId);
    const here = await begun(firstId);
    for (const id of [elsewhere.clientId, `${here.clientId}x`, "gwc_v1.a.b"])
      expect((await ask(here.authorizeUrl({ client_id: id }))).status).toBe(401);
  });

  test.each([
    ["no challenge", { code_challenge: "" }, "invalid_request"],
    ["a plain PKCE challenge", { code_challenge_method: "plain" }, "invalid_request"],
    ["another resource", { resource: "https://mail.example/mcp" }, "invalid_target"],
    ["the implicit flow", { response_type: "token" }, "unsupported_response_type"],
  ])("a request with %s is redirected back with its error", async (_name, values, error) => {
    const answer = await ask((await begun()).authorizeUrl(values as Record<string, string>));
    const to = new URL(answer.headers.get("location") as string);
    expect([to.origin + to.pathname, to.searchParams.get("error"), to.searchParams.get("state")]).toEqual([RETURN, error, "s"]);
  });
});

describe("codes and tokens", () => {
  test("a code is valid once, for its own client, redirect URI, verifier, server and principal", async () => {
    const client = await begun();
    const elsewhere = await begun(secondId);
    const stranger = await newTeam(world.admin, "code stranger", { parent_group_id: team.groupId });
    const code = await codeFor(client, "ada", team.apiKey);
    const wrong: [string, Promise<{ status: number; body: any }>][] = [
      ["verifier", client.redeem(code, { code_verifier: "w".repeat(43) })],
      ["no verifier", client.redeem(code, { code_verifier: "" })],
      ["address", client.redeem(code, { redirect_uri: "http://127.0.0.1:2/callback" })],
      ["client", client.redeem(code, { client_id: (await begun()).clientId })],
      ["server", elsewhere.redeem(code)],
      ["principal", client.redeem(code, {}, { "x-api-key": stranger.apiKey })],
      ["made up", client.redeem("v1.a.b")],
    ];
    for (const [name, answer] of wrong)
      expect([name, (await answer).status, (await answer).body.error]).toEqual([name, 400, "invalid_grant"]);
    expect((await client.redeem(code, { resource: "https://mail.example/mcp" })).body.error).toBe("invalid_target");
    expect((await client.redeem(code, {}, {})).status).toBe(200);
    expect((await client.redeem(code)).body.error).toBe("invalid_grant");
  });

  test("a token is valid only at its own server", async () => {
    const client = await begun();
    const { body } = await client.redeem(await codeFor(client, "ada"));
    const authorization = `Bearer ${body.access_token}`;
    expect((await call(firstId, { authorization })).status).toBe(200);
    expect((await call(secondId, { authorization })).status).toBe(401);
    expect((await ask(`${gateway()}/v1/proxy/llm/models`, { authorization })).status).toBe(401);
    expect((await call(firstId, { authorization: `${authorization.slice(0, -1)}` })).status).toBe(401);
    expect((await fetch(`${mcp(firstId)}?access_token=${body.access_token}`, { method: "POST", body: "{}" })).status).toBe(401);
    // A token cannot be used as a refresh token, nor a refresh token as a token.
    expect((await client.redeem("", { grant_type: "refresh_token", refresh_token: body.access_token })).body.error).toBe("invalid_grant");
    expect((await call(firstId, { authorization: `Bearer ${body.refresh_token}` })).status).toBe(401);
    expect([...first.refused, ...second.refused]).toEqual([]);
  });

  test("a bearer token next to an API key is not passed on if it is for another server or the gateway's own", async () => {
    const stranger = await newTeam(world.admin, "bearer stranger", { parent_group_id: team.groupId });
    const jwt = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${Buffer.from('{"aud":"https://mail.example/"}').toString("base64url")}.x`;
    expect((await call(firstId, { "x-api-key": stranger.apiKey, authorization: `Bearer ${jwt}` })).status).toBe(401);
    expect((await call(firstId, { "x-api-key": stranger.apiKey, authorization: `Bearer ${team.apiKey}` })).status).toBe(401);
    expect(first.refused).toEqual([]);
    // A token that may be the server's own is left to the server; its answer is returned with the gateway's addresses.
    const judged = await call(firstId, { "x-api-key": stranger.apiKey, authorization: "Bearer opaque" });
    expect([judged.status, first.refused]).toEqual([401, ["opaque"]]);
    expect(judged.headers.get("www-authenticate")).toContain(`${gateway()}/.well-known/oauth-protected-resource`);
    first.refused.length = 0;
  });

  test("a refresh token used twice revokes all tokens of its client", async () => {
    const client = await begun();
    const { body } = await client.redeem(await codeFor(client, "ada"));
    const refresh = (token: string) => client.redeem("", { grant_type: "refresh_token", refresh_token: token }, {});
    const next = await refresh(body.refresh_token);
    expect(next.status).toBe(200);
    expect((await call(firstId, { authorization: `Bearer ${next.body.access_token}` })).status).toBe(200);
    expect((await refresh(body.refresh_token)).body.error).toBe("invalid_grant");
    expect((await refresh(next.body.refresh_token)).body.error).toBe("invalid_grant");
    expect((await call(firstId, { authorization: `Bearer ${next.body.access_token}` })).status).toBe(401);
  });

  test("a token is invalid once its API key is revoked", async () => {
    const leaving = await newTeam(world.admin, "leaving", { parent_group_id: team.groupId });
    const client = await begun();
    const { body } = await client.redeem(await codeFor(client, "ada"), {}, { "x-api-key": leaving.apiKey });
    expect((await call(firstId, { authorization: `Bearer ${body.access_token}` })).status).toBe(200);
    await world.admin.request("DELETE", `/v1/admin/api-keys/${leaving.apiKeyId}`);
    expect((await call(firstId, { authorization: `Bearer ${body.access_token}` })).status).toBe(401);
  });

  test("stored tokens are not sent to a new address of the server's record", async () => {
    const moving = startProtectedServer("stateless", () => at);
    others.push(moving);
    const client = await begun();
    await client.redeem(await codeFor(client, "ada"));
    expect((await call(firstId, { "x-api-key": team.apiKey })).status).toBe(200);
    await world.admin.request("PATCH", `/v1/admin/mcp-servers/${firstId}`, { base_url: moving.baseUrl });
    expect((await call(firstId, { "x-api-key": team.apiKey })).status).toBe(401);
    expect([moving.refused, moving.callers]).toEqual([[], []]);
    await world.admin.request("PATCH", `/v1/admin/mcp-servers/${firstId}`, { base_url: first.baseUrl });
    expect((await call(firstId, { "x-api-key": team.apiKey })).status).toBe(200);
  });

  test("another tenant's key can neither redeem a code nor list tokens", async () => {
    await world.admin.post("/v1/admin/tenants", { id: "rival", name: "Rival" });
    const rival = await newTeam(world.admin, "rivals", {}, "rival");
    const client = await begun();
    const code = await codeFor(client, "ada");
    expect((await client.redeem(code, {}, { "x-api-key": rival.apiKey })).status).toBe(404);
    expect((await ask(`${client.broker}/tokens`, { "x-api-key": rival.apiKey })).status).toBe(404);
  });
});

const perCallback = (rows: readonly any[]) => rows.filter(({ proxy_subtype: of }) => of === "oauth_callback" || of === "oauth_authorize");

describe("OAuth audit rows", () => {
  test("are one per request, and neither they nor the log contain codes, tokens, states or secrets", async () => {
    const client: Begun = await begun();
    const browser = new ScriptedBrowser("ada", team.apiKey);
    const { url } = await browser.walk(client.authorizeUrl({ state: "client-state-secret" }), RETURN);
    const code = url.searchParams.get("code") as string;
    const { body } = await client.redeem(code);
    await call(firstId, { authorization: `Bearer ${body.access_token}` });
    const upstream = first.callers.at(-1)?.token as string;
    const rows = await rowsOf(world.admin, { proxy_type: "oauth", proxy_subtype: "oauth_token" }, 1);
    const all = [
      ...rows,
      ...(await rowsOf(world.admin, { proxy_type: "oauth" }, 1)),
      ...(await rowsOf(world.admin, { server_id: firstId }, 1)),
    ];
    const states = browser.visited
      .flatMap((address) => [new URL(address).searchParams.get("state"), new URL(address).searchParams.get("code")])
      .filter((value) => value !== null);
    const text = JSON.stringify(all) + world.gateway.output();
    for (const secret of [
      code,
      body.access_token,
      body.refresh_token,
      upstream,
      client.verifier,
      team.apiKey,
      "client-state-secret",
      ...states,
    ])
      expect(text.includes(secret)).toBe(false);
    for (const row of all.filter(({ proxy_type: type }) => type === "oauth"))
      expect([row.request_body_preview, row.response_body_preview]).toEqual([null, null]);
    // Each is an authentication event, except reads of published metadata or of one's own tokens.
    const steps = all.filter(({ proxy_type: type, http_method }) => type === "oauth" && http_method !== "GET");
    const reads = all.filter(({ proxy_subtype: of, http_method }) => /discovery|tokens/.test(of) && http_method === "GET");
    expect([steps.length > 0, steps.every(({ is_auth_event }) => is_auth_event === true)]).toEqual([true, true]);
    expect([reads.length > 0, reads.some(({ is_auth_event }) => is_auth_event !== false)]).toEqual([true, false]);
    expect([...new Set(perCallback(all).map(({ is_auth_event }) => is_auth_event))]).toEqual([true]);
    const perCall = await rowsOf(world.admin, { proxy_type: "oauth", proxy_subtype: "oauth_callback", success: true }, 1);
    expect(new Set(perCall.map(({ id }) => id)).size).toBe(perCall.length);
  });

  test("have the flow type and the requested scope", async () => {
    const client: Begun = await begun();
    await fetch(client.authorizeUrl({ scope: "tools:read \0 tools:write" }), { redirect: "manual" });
    for (const grant_type of ["refresh_token", "password"]) await client.redeem("none", { grant_type, scope: `as:${grant_type}` });
    const [asked] = await rowsOf(world.admin, { proxy_subtype: "oauth_authorize", oauth_scope: "tools:read tools:write" }, 1);
    expect(asked.oauth_flow_type).toBe("authorization_code");
    const flows = await Promise.all(
      ["as:refresh_token", "as:password"].map(
        async (oauth_scope) => (await rowsOf(world.admin, { proxy_subtype: "oauth_token", oauth_scope }, 1))[0].oauth_flow_type,
      ),
    );
    expect(flows).toEqual(["refresh_token", null]);
  });
});
