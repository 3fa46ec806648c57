import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { createServer, type Server } from "node:net";
import { grantAgent, registerAgent } from "../agents/a2a-harness.ts";
import { grant, newTeam, post, stateless, type Team } from "../tools/mcp-harness.ts";
import { type Served, serveModels } from "../../support/worlds/admin.ts";
import { startWorld, type World } from "../../support/world.ts";

/**
 * With GW_ALLOW_PRIVATE_UPSTREAMS off, nothing that an administrator or a caller enters leads the gateway to a private address. Something
 * listens at each of them and counts connections.
 */
const PLACES = ["127.0.0.1", "::1"];
/** Ways to write them. */
const HOSTS = ["localhost", "127.1", "2130706433", "127.0.0.1.", "[::1]", "[::ffff:127.0.0.1]"];
const REFUSED =
  /address is not allowed from this gateway|is not on the public internet|could not be fetched|provider cannot be reached|could not be checked/;
const tenant = { tenant_id: "default" };

let world: World;
let team: Team;
let pictures: Served;
let searchId: string;
let port: number;
let connections = 0;
const listeners: Server[] = [];

beforeAll(async () => {
  for (const host of PLACES) {
    const server = createServer((socket) => {
      connections += 1;
      socket.on("error", () => undefined).end("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    });
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port ?? 0, host, resolve));
    ({ port } = server.address() as { port: number });
    listeners.push(server);
  }
  world = await startWorld({ GW_ALLOW_PRIVATE_UPSTREAMS: "off" });
  team = await newTeam(world.admin, "callers");
  await world.admin.request("PATCH", `/v1/admin/resource-groups/${team.groupId}/web-search`, {
    web_search: { fetch: { addresses: "any" } },
  });
  const gemini = {
    ...tenant,
    provider_key: "gemini",
    api_format: "gemini",
    base_url: "https://gemini.example",
    api_key: "gemini-secret-01",
  };
  await world.admin.post("/v1/admin/providers", gemini);
  pictures = await serveModels(world.admin, "https://unused.example", [{ name: "pictures", provider: "gemini" }], { group: "pictures" });
  const search = { ...tenant, name: "search", kind: "searxng", base_url: "https://search.example" };
  searchId = (await world.admin.post("/v1/admin/web-search", search)).id;
  await grant(world.admin, "searches", "system-web-search-default", [team.groupId]);
});
afterAll(async () => {
  await world?.end();
  for (const server of listeners) server.close();
});

const searchUrl = () => `${world.gateway.runtimeUrl}/v1/proxy/mcp/system-web-search-default`;

let number = 0;
const nameOf = () => `place-${++number}`;

async function chat(apiKey: string, model: string, content: unknown = "hello"): Promise<string> {
  const response = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": apiKey },
    body: JSON.stringify({ model, messages: [{ role: "user", content }] }),
  });
  return response.text();
}

/** What is said of a place (scheme, host and port), and how it begins to be refused, on each way there. */
const WAYS: Readonly<Record<string, (place: string, name: string) => Promise<unknown>>> = {
  async "a picture in a message"(place) {
    return chat(pictures.apiKey, "pictures", [{ type: "image_url", image_url: { url: `${place}/picture.png` } }]);
  },
  async "a page that a caller names"(place) {
    // Pages at other ports than the web's are not read at all.
    const query = { name: "web_fetch", arguments: { url: place.replace(/:\d+$/, "/") } };
    const { body } = await post(searchUrl(), team.apiKey, stateless(1, "tools/call", query));
    return body.result;
  },
  async "a model provider"(place, name) {
    const { apiKey } = await serveModels(world.admin, `${place}/v1`, [name], { group: name, providerKey: name });
    return chat(apiKey, name);
  },
  async "a token endpoint of a service account"(place, name) {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const account = {
      type: "service_account",
      client_email: "a@example.iam.gserviceaccount.com",
      private_key: privateKey.export({ format: "pem", type: "pkcs8" }),
      token_uri: `${place}/token`,
    };
    const vertex = {
      ...{ ...tenant, provider_key: name, api_format: "vertex", api_key: JSON.stringify(account) },
      base_url: "https://aiplatform.googleapis.com/v1/projects/p/locations/europe-west4",
    };
    const made = await world.admin.request("POST", "/v1/admin/providers", vertex);
    if (made.status !== 201) return made.body;
    await world.admin.post("/v1/admin/llms", {
      ...{ ...tenant, name, model_name: "gemini-m", modes: ["chat"], provider: name, enabled: true, group_ids: [team.groupId] },
    });
    return chat(team.apiKey, name);
  },
  async "a tool server"(place, name) {
    const { id, discovery } = await world.admin.post("/v1/admin/mcp-servers", { ...tenant, name, base_url: place });
    await grant(world.admin, name, id, [team.groupId]);
    const url = `${world.gateway.runtimeUrl}/v1/proxy/mcp/${id}`;
    const called = await post(url, team.apiKey, stateless(1, "tools/call", { name: "open", arguments: {} }));
    return [discovery.detail, called.body.error.message];
  },
  async "a tool server over SSE"(place, name) {
    const made = await world.admin.post("/v1/admin/mcp-servers", { ...tenant, name, base_url: place, mcp_endpoint_path: "/sse" });
    return made.discovery.detail;
  },
  async "an agent"(place, name) {
    const { id, discovery } = await registerAgent(world.admin, name, place);
    await grantAgent(world.admin, id, [team.groupId]);
    return discovery.detail;
  },
  async "an identity provider"(place, name) {
    const oidc = { issuer: place, client_id: "gateway" };
    const body = { ...tenant, kind: "oidc", audience: "portal", name, oidc, client_secret: "a secret of the client" };
    const { id } = await world.admin.post("/v1/admin/identity-providers", body);
    return (await fetch(`${world.gateway.runtimeUrl}/v1/portal/auth/sso/${id}/start`, { redirect: "manual" })).text();
  },
  async "a guardrail engine"(place, name) {
    const judged = await serveModels(world.admin, world.upstream.baseUrl, [name], { group: name, providerKey: name });
    const engine = { provider: "webhook", endpoint: `${place}/judge`, api_key: "hook-secret-0001" };
    const config = { ...tenant, name, group_ids: [judged.groupId], surfaces: { chat_input: true }, providers: [engine] };
    await world.admin.post("/v1/admin/guardrails/configs", config);
    return chat(judged.apiKey, name);
  },
  async "a search provider"(place, name) {
    await world.admin.request("PATCH", `/v1/admin/web-search/${searchId}`, { base_url: place });
    const query = { name: "web_search", arguments: { query: name } };
    const { body } = await post(searchUrl(), team.apiKey, stateless(1, "tools/call", query));
    return body.result;
  },
  async "billing data of a vendor"(place, name) {
    const provider = {
      ...tenant,
      provider_key: name,
      api_format: "openai",
      base_url: "https://calls.example/v1",
      api_key: "calls-secret-0001",
    };
    const { id } = await world.admin.post("/v1/admin/providers", provider);
    const path = `/v1/admin/usage-import/providers/${id}`;
    const settings = { import_endpoint_override: place, api_key: "sk-admin-secret-0001" };
    const set = await world.admin.request("PATCH", path, settings);
    return set.status === 200 ? (await world.admin.request("POST", `${path}/test`)).body : set.body;
  },
};

describe.each(Object.keys(WAYS))("%s", (way) => {
  test.each(HOSTS)("is not reached at %s", async (host) => {
    const said = await WAYS[way]?.(`http://${host}:${port}`, nameOf());
    expect(JSON.stringify(said)).toMatch(REFUSED);
    expect(connections).toBe(0);
  });
});
