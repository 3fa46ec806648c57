import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ScriptedIssuer, startScriptedIssuer } from "../../support/identity/scripted-issuer.ts";
import { startWorld, type World } from "../../support/world.ts";
import { grant, newTeam, type Team } from "./mcp-harness.ts";

/** Clients registered directly with the issuer, because it does not identify itself in its authorization responses. */
let world: World;
let issuer: ScriptedIssuer;
let tools: ReturnType<typeof Bun.serve>;
let team: Team;
let broker: string;

beforeAll(async () => {
  world = await startWorld();
  issuer = startScriptedIssuer();
  // Strings and lists of strings are passed on; other values are not.
  issuer.document = {
    authorization_response_iss_parameter_supported: undefined,
    jwks_uri: "https://issuer.example/jwks",
    claims_supported: ["sub"],
    ui_locales_supported: [["en"]],
    op_tos_uri: { a: 1 },
  };
  tools = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      const { origin, pathname } = new URL(request.url);
      return pathname.startsWith("/.well-known/oauth-protected-resource")
        ? Response.json({ resource: `${origin}/mcp`, authorization_servers: [issuer.issuer] })
        : new Response(null, { status: 401 });
    },
  });
  team = await newTeam(world.admin, "straight");
  const { id } = await world.admin.post("/v1/admin/mcp-servers", {
    tenant_id: "default",
    name: "straight",
    base_url: tools.url.origin,
    auth_type: "oauth",
  });
  await grant(world.admin, "straight", id, [team.groupId]);
  broker = ((await (await fetch(`${world.gateway.runtimeUrl}/v1/proxy/mcp/${id}/.well-known/oauth-protected-resource`)).json()) as any)
    .authorization_servers[0];
});
afterAll(async () => {
  await Promise.all([issuer.stop(), tools.stop(true)]);
  await world.end();
});

async function send(path: string, form: Record<string, string>, headers: Record<string, string> = {}) {
  const response = await fetch(`${broker}${path}`, { method: "POST", redirect: "manual", headers, body: new URLSearchParams(form) });
  return { status: response.status, text: await response.text() };
}

const CODE = { grant_type: "authorization_code", code: "theirs", client_id: "their own" };

test("a directly registered client gets the issuer's token response unchanged", async () => {
  const text = `{"access_token":"a", "expires_in":36e2, "id":12345678901234567890, "deep":${"[".repeat(50_000)}${"]".repeat(50_000)}}`;
  issuer.answer = () => new Response(text);
  expect(await send("/token", CODE)).toEqual({ status: 200, text });
  issuer.answer = () => new Response('{"error":"invalid_grant"}', { status: 400 });
  expect(await send("/token", CODE)).toEqual({ status: 400, text: '{"error":"invalid_grant"}' });
});

test.each([
  ["an HTML page", () => new Response("<html>")],
  ["a JSON list", () => Response.json([1])],
  ["an empty body", () => new Response(null, { status: 204 })],
  ["a redirect", () => Response.redirect("https://elsewhere.example/", 302)],
  ["too large", () => new Response(`{"access_token":"${"a".repeat(300_000)}"}`)],
  ["a 500", () => new Response("down", { status: 500 })],
])("a token response that is %s becomes 502 temporarily_unavailable", async (_name, answer) => {
  issuer.answer = answer;
  const { status, text } = await send("/token", CODE);
  expect([status, JSON.parse(text).error]).toEqual([502, "temporarily_unavailable"]);
});

test("a token revocation that the issuer answers with an empty response succeeds", async () => {
  expect(await send("/revoke", { token: "theirs" })).toEqual({ status: 200, text: "{}" });
});

test("an API key of the gateway sent by mistake is not passed on to the issuer", async () => {
  issuer.seen.length = 0;
  const answers = await Promise.all([
    send("/token", { ...CODE, client_secret: team.apiKey }),
    send("/token", CODE, { authorization: `Basic ${btoa(`theirs:${team.apiKey}`)}` }),
    send("/revoke", { token: team.apiKey }),
  ]);
  expect([answers.map(({ status }) => status), issuer.seen]).toEqual([[400, 400, 400], []]);
});

test("the discovery document passes on only strings and lists of strings of the issuer's metadata", async () => {
  const document = (await (await fetch(`${broker}/.well-known/openid-configuration`)).json()) as any;
  expect([document.jwks_uri, document.claims_supported, document.ui_locales_supported, document.op_tos_uri]).toEqual([
    "https://issuer.example/jwks",
    ["sub"],
    undefined,
    undefined,
  ]);
});
