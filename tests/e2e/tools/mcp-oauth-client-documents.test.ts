import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  type AuthorizationServerFixture,
  type ProtectedServerFixture,
  startAuthorizationServer,
  startProtectedServer,
} from "../../support/identity/authorization-server.ts";
import { ScriptedBrowser } from "../../support/identity/browser.ts";
import { startWorld, type World } from "../../support/world.ts";
import { grant, newTeam, type Team } from "./mcp-harness.ts";
import { begunAt, RETURN } from "./oauth-harness.ts";

let world: World;
let at: AuthorizationServerFixture;
let server: ProtectedServerFixture;
let serverId: string;
let team: Team;

const begun = () => begunAt(world.gateway.runtimeUrl, serverId, team.apiKey);
const ask = (address: string) => fetch(address, { redirect: "manual" });

beforeAll(async () => {
  world = await startWorld();
  server = startProtectedServer("stateless", () => at);
  at = await startAuthorizationServer({ resources: () => [`${server.baseUrl}/mcp`] });
  team = await newTeam(world.admin, "team");
  const made = await world.admin.post("/v1/admin/mcp-servers", {
    tenant_id: "default",
    name: "protected",
    base_url: server.baseUrl,
    auth_type: "oauth",
  });
  serverId = made.id;
  await grant(world.admin, "protected", serverId, [team.groupId]);
});
afterAll(async () => {
  await Promise.all([at.stop(), server.stop()]);
  await world.end();
});

describe("a client identified by a metadata document", () => {
  let pages: ReturnType<typeof Bun.serve>;
  const documents: Record<string, () => Response> = {};
  const pageAt = (path: string) => `http://127.0.0.1:${pages.port}${path}`;
  beforeAll(() => {
    pages = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: (request) => documents[new URL(request.url).pathname]?.() ?? new Response(null, { status: 404 }),
    });
  });
  afterAll(() => pages.stop(true));

  test("is accepted, with the name from its document", async () => {
    documents["/client.json"] = () =>
      Response.json({ client_id: pageAt("/client.json"), client_name: "A <b>documented</b> client", redirect_uris: [RETURN] });
    const client = await begun();
    const page = await (await ask(client.authorizeUrl({ client_id: pageAt("/client.json") }))).text();
    expect(page).toContain("A &lt;b&gt;documented&lt;/b&gt; client");
    const { url } = await new ScriptedBrowser("ada").walk(client.authorizeUrl({ client_id: pageAt("/client.json") }), RETURN);
    const redeemed = await client.redeem(url.searchParams.get("code") as string, { client_id: pageAt("/client.json") });
    expect([redeemed.status, redeemed.body.token_type]).toEqual([200, "Bearer"]);
  });

  test.each([
    [
      "that names another client ID",
      (_own: string) => Response.json({ client_id: "https://other.example/client.json", redirect_uris: [RETURN] }),
    ],
    ["that redirects to another URL", (_own: string) => Response.redirect("http://169.254.169.254/latest/meta-data", 302)],
    ["that is too large", (own: string) => Response.json({ client_id: own, redirect_uris: [RETURN], padding: "x".repeat(100_000) })],
    ["that is not JSON", (_own: string) => new Response("<html>")],
    [
      "that requires a client secret",
      (own: string) => Response.json({ client_id: own, redirect_uris: [RETURN], token_endpoint_auth_method: "client_secret_basic" }),
    ],
    ["with a javascript: redirect URI", (own: string) => Response.json({ client_id: own, redirect_uris: ["javascript:alert(1)"] })],
  ])("is refused for a document %s", async (_name, document) => {
    // Documents are cached by address, so each has its own.
    const path = `/${crypto.randomUUID()}.json`;
    documents[path] = () => document(pageAt(path));
    const answer = await ask((await begun()).authorizeUrl({ client_id: pageAt(path) }));
    expect([answer.status, answer.headers.get("location")]).toEqual([401, null]);
  });

  test.each([
    "http://intranet.example/client.json",
    "https://user:pass@app.example/client.json",
    "https://app.example/client.json#part",
    "https://app.example/",
    "https://app.example/a/../client.json",
    "HTTPS://app.example/client.json",
  ])("cannot have the ID %s", async (clientId) => {
    const answer = await ask((await begun()).authorizeUrl({ client_id: clientId }));
    expect([answer.status, answer.headers.get("location"), answer.headers.get("www-authenticate")]).toEqual([401, null, "Bearer"]);
  });
});
