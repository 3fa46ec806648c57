import { afterAll, beforeAll, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { rowOf, serveModels, type Served } from "../../support/worlds/admin.ts";
import { startWorld, type World } from "../../support/world.ts";

/** API keys that are accepted only from the addresses in their list. */

let world: World;
let served: Served;
let path: string;

beforeAll(async () => {
  world = await startWorld({ GW_TRUSTED_PROXIES: "127.0.0.0/8" });
  served = await serveModels(world.admin, world.upstream.baseUrl, ["fake-1", { name: "held", model_name: "hold" }]);
  path = `/v1/admin/api-keys/${served.apiKeyId}`;
});
afterAll(() => world.end());

const allow = async (addresses: string[] | null) => {
  const { status, body } = await world.admin.request("PATCH", path, { allowed_addresses: addresses });
  expect([status, body.allowed_addresses]).toEqual([200, addresses]);
};

async function statusFrom(address: string, route = "/v1/proxy/llm/chat/completions", key = served.apiKey): Promise<string> {
  const reply = await fetch(world.gateway.runtimeUrl + route, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json", "x-forwarded-for": address },
    body: JSON.stringify({ model: "fake-1", max_tokens: 5, messages: [{ role: "user", content: "x" }] }),
  });
  return `${reply.status} ${/"(?:code|reason)":"?([a-z_]+)/.exec(await reply.text())?.[1] ?? ""}`.trim();
}

test("a key is accepted from the addresses and ranges in its list alone, in whatever form they are written", async () => {
  await allow(["203.0.113.7", "10.20.0.0/16", "2001:db8:1::/48", "::ffff:192.0.2.0/120"]);
  const accepted = ["203.0.113.7", "10.20.255.1", "2001:db8:1::5", "192.0.2.200", "::ffff:203.0.113.7", "[2001:DB8:1::9]:443"];
  const refused = ["203.0.113.8", "10.21.0.1", "2001:db8:2::5", "192.0.3.1", "::1"];
  expect(await Promise.all(accepted.map((address) => statusFrom(address)))).toEqual(accepted.map(() => "200"));
  expect(await Promise.all(refused.map((address) => statusFrom(address)))).toEqual(refused.map(() => "403 address_not_allowed"));
  // What the caller claims to the left of the address that the proxy saw does not count.
  expect(await statusFrom("203.0.113.7, 203.0.113.8")).toBe("403 address_not_allowed");
  await allow(null);
  expect(await statusFrom("203.0.113.8")).toBe("200");
});

test("official clients are refused in their own formats, and the row says by which key and from where", async () => {
  await allow(["203.0.113.7"]);
  const { runtimeUrl } = world.gateway;
  const defaultHeaders = { "x-forwarded-for": "198.51.100.9" };
  const openai = new OpenAI({ apiKey: served.apiKey, baseURL: `${runtimeUrl}/v1/proxy/llm`, maxRetries: 0, defaultHeaders });
  const anthropic = new Anthropic({ apiKey: served.apiKey, baseURL: runtimeUrl, maxRetries: 0, defaultHeaders });
  const messages = [{ role: "user" as const, content: "x" }];
  const failure: any = await openai.chat.completions.create({ model: "fake-1", messages }).catch((error: unknown) => error);
  expect([failure.status, failure.message]).toEqual([403, expect.stringContaining("This API key is not accepted from your address.")]);
  const other: any = await anthropic.messages.create({ model: "fake-1", max_tokens: 5, messages }).catch((error: unknown) => error);
  expect([other.status, other.error?.error?.type]).toEqual([403, "permission_error"]);
  const mcp = await fetch(`${runtimeUrl}/v1/proxy/mcp/any`, {
    method: "POST",
    headers: { "x-api-key": served.apiKey, "content-type": "application/json", ...defaultHeaders },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
  });
  expect([mcp.status, await mcp.text()]).toEqual([403, expect.stringContaining("not accepted from your address")]);
  const row = await rowOf(world.admin, { id: failure.headers.get("x-request-id") });
  expect(row).toMatchObject({
    ...{ error_type: "address_not_allowed", api_key_id: served.apiKeyId, client_ip: "198.51.100.9" },
    ...{ is_auth_event: true, http_status_code: 403, tenant_id: "default" },
  });
  expect(world.upstream.seen.filter(({ headers }) => headers["x-forwarded-for"] === "198.51.100.9")).toEqual([]);
});

test("from another address, a key that is not valid is answered like one that does not exist", async () => {
  const made = await world.admin.post(`/v1/admin/resource-groups/${served.groupId}/api-keys`, {
    ...{ name: "bound", allowed_addresses: ["203.0.113.7"] },
  });
  const route = "/v1/proxy/llm/chat/completions";
  expect(await statusFrom("198.51.100.9", route, made.key)).toBe("403 address_not_allowed");
  const unused = (await world.admin.get(`/v1/admin/api-keys/${made.id}`)).last_used_at;
  expect((await world.admin.request("DELETE", `/v1/admin/api-keys/${made.id}`)).status).toBeLessThan(300);
  const unknown = `${made.key.slice(0, -5)}AAAAA`;
  const [revoked, none] = [await statusFrom("198.51.100.9", route, made.key), await statusFrom("198.51.100.9", route, unknown)];
  expect([revoked, unused]).toEqual([none, null]);
  expect(none).toStartWith("401");
});

test("a stream ends when its address leaves the list", async () => {
  await allow(["203.0.113.7", "198.51.100.9"]);
  const response = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "x-api-key": served.apiKey, "content-type": "application/json", "x-forwarded-for": "198.51.100.9" },
    body: JSON.stringify({ model: "held", stream: true, messages: [{ role: "user", content: "x" }] }),
  });
  expect(response.status).toBe(200);
  await allow(["203.0.113.7"]);
  await response.text().catch(() => "");
  const row = await rowOf(world.admin, { id: response.headers.get("x-request-id") });
  expect(row).toMatchObject({ success: false, error_type: "access_ended" });
});

test("an entry that is neither an address nor a range is refused by its place, and nothing changes", async () => {
  await allow(["203.0.113.7"]);
  for (const bad of ["example.com", "10.0.0.0/33", "10.0.0.256", "fe80::1%eth0", "10.0.0.0/8 ", "/8", "2001:db8::/129"]) {
    const { status, body } = await world.admin.request("PATCH", path, { allowed_addresses: ["10.0.0.1", bad] });
    expect([status, body.fields]).toEqual([400, [{ field: "allowed_addresses.1", message: expect.stringContaining("10.0.0.0/8") }]]);
  }
  expect((await world.admin.request("PATCH", path, { allowed_addresses: [] })).status).toBe(400);
  expect((await world.admin.get(path)).allowed_addresses).toEqual(["203.0.113.7"]);
  const { entries } = await world.admin.get(`/v1/admin/admin-log?resource=api-keys&resource_id=${served.apiKeyId}&action=update`);
  expect(entries[0]).toMatchObject({ after: { allowed_addresses: ["203.0.113.7"] } });
});
