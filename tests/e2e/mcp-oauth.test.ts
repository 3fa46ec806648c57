import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import { rowOf, rowsOf } from "../support/admin.ts";
import { type AuthorizationServerFixture, type ProtectedServerFixture, startAuthorizationServer, startProtectedServer } from "../support/authorization-server.ts";
import { ScriptedBrowser } from "../support/browser.ts";
import { startWorld, type World } from "../support/world.ts";
import { grant, newTeam, post, stateless, type Team, textOf } from "./mcp-harness.ts";

let world: World;
let at: AuthorizationServerFixture;
let old: ProtectedServerFixture;
let modern: ProtectedServerFixture;
let oldId: string;
let modernId: string;
let team: Team;

const RETURN = "http://127.0.0.1:1/callback";
const gateway = () => world.gateway.runtimeUrl;
const mcp = (id: string) => `${gateway()}/v1/proxy/mcp/${id}`;

async function register(name: string, fixture: ProtectedServerFixture): Promise<string> {
  const made = await world.admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name, base_url: fixture.baseUrl, auth_type: "oauth" });
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

/** What the official client keeps of its authorization. */
class Keeper implements OAuthClientProvider {
  kept: { client?: any; tokens?: any; verifier?: string; sentTo?: URL } = {};
  readonly redirectUrl = RETURN;
  readonly clientMetadata = { client_name: "Official client", redirect_uris: [RETURN], grant_types: ["authorization_code", "refresh_token"], response_types: ["code"], token_endpoint_auth_method: "none" };
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

describe("the official client's own flow", () => {
  test("with a key in its headers: discovers, registers, authorizes, calls", async () => {
    const keeper = new Keeper();
    const client = await connected(oldId, keeper, new ScriptedBrowser("ada"), { "x-api-key": team.apiKey });
    expect(textOf(await client.callTool({ name: "echo", arguments: { text: "hi" } }))).toBe("old: hi");
    expect(old.callers.at(-1)).toMatchObject({ method: "echo", account: "ada" });
    expect(keeper.kept.tokens.access_token).toMatch(/^gwo_/);
    await client.close();
  });

  test("with nothing but the address: the key is entered in the browser, and the token alone is enough", async () => {
    const keeper = new Keeper();
    const client = await connected(oldId, keeper, new ScriptedBrowser("grace", team.apiKey), {});
    expect(textOf(await client.callTool({ name: "echo", arguments: { text: "hi" } }))).toBe("old: hi");
    expect(old.callers.at(-1)).toMatchObject({ account: "grace" });
    await client.close();
  });
});
