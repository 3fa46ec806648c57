import { afterAll, beforeAll, expect, test } from "bun:test";
import { rowOf, serveModels, type Served } from "../../support/worlds/admin.ts";
import { ADMIN_PASSWORD, type GatewayProcess, removeDirectory, startGateway } from "../../support/gateway.ts";
import { PASSWORD, portalClient } from "../../support/worlds/portal.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";

let world: World;
let served: Served;
/** A gateway on the same database that is not behind a proxy. */
let open: GatewayProcess;

beforeAll(async () => {
  const fleet = { GW_SECRET_KEY: Buffer.alloc(32, 3).toString("base64") };
  world = await startWorld({ ...fleet, GW_TRUSTED_PROXIES: "127.0.0.0/8" });
  served = await serveModels(world.admin, world.upstream.baseUrl, ["fake-1"]);
  open = await startGateway({ databaseUrl: world.databaseUrl, env: { ...fleet, GW_ROLES: "runtime,control" } });
});
afterAll(async () => {
  await open.stop();
  await removeDirectory(open.dataDir);
  await world.end();
});

const from = (...hops: string[]) => ({ "x-forwarded-for": hops.join(", ") });
const logIn = ({ runtimeUrl }: GatewayProcess, username: string, headers: Record<string, string>) =>
  portalClient(runtimeUrl).request("POST", "/auth/login", { username, password: PASSWORD }, headers);
const adminLogIn = ({ adminUrl }: GatewayProcess, username: string, password: string, headers: Record<string, string>) =>
  fetch(`${adminUrl}/v1/admin-users/system/login`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ username, password }),
  });

async function addressOnRow(gateway: GatewayProcess, headers: Record<string, string>): Promise<string> {
  const reply = await fetch(`${gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "x-api-key": served.apiKey, "content-type": "application/json", ...headers },
    body: JSON.stringify({ model: "fake-1", messages: [{ role: "user", content: "x" }] }),
  });
  expect(reply.status).toBe(200);
  await reply.text();
  return (await rowOf(world.admin, { id: reply.headers.get("x-request-id") })).client_ip;
}

test("audit rows have the address that a trusted proxy reports, not one that the caller claims", async () => {
  expect(await addressOnRow(world.gateway, from("203.0.113.7"))).toBe("203.0.113.7");
  expect(await addressOnRow(world.gateway, from("198.51.100.1", "[2001:DB8::7]:4711", "127.0.0.9"))).toBe("2001:db8::7");
  expect(await addressOnRow(world.gateway, {})).toBe("127.0.0.1");
  expect(await addressOnRow(open, from("203.0.113.7"))).toBe("127.0.0.1");
});

test("portal logins are throttled by the address that a trusted proxy reports", async () => {
  for (let i = 0; i < 5; i++) expect((await logIn(world.gateway, "guessed", from(`198.51.100.${i}`, "203.0.113.20"))).status).toBe(401);
  expect((await logIn(world.gateway, "guessed", from("198.51.100.99", "203.0.113.20"))).status).toBe(429);
  expect((await logIn(world.gateway, "guessed", from("203.0.113.21"))).status).toBe(401);
});

test("without a trusted proxy logins are throttled by the connection's address", async () => {
  for (let i = 0; i < 5; i++) expect((await logIn(open, "guessed", from(`198.51.100.${i}`))).status).toBe(401);
  expect((await logIn(open, "guessed", from("198.51.100.99"))).status).toBe(429);
});

test("registrations are limited by the address that a trusted proxy reports", async () => {
  // A nonexistent tenant needs no password hash, and still counts.
  const register = (headers: Record<string, string>) =>
    portalClient(world.gateway.runtimeUrl).request(
      "POST",
      "/auth/register",
      { username: "x", password: PASSWORD },
      { "x-tenant-id": "nowhere", ...headers },
    );
  for (let i = 0; i < 60; i++) expect((await register(from("203.0.113.30"))).body.code).toBe("registration_closed");
  expect((await register(from("198.51.100.1", "203.0.113.30"))).body.code).toBe("too_many_registrations");
  expect((await register(from("203.0.113.31"))).body.code).toBe("registration_closed");
});

test("the admin log and the control plane's login throttle use the address that a trusted proxy reports", async () => {
  const newest = async () => (await world.admin.get("/v1/admin/admin-log?action=login_failed&page_size=1")).entries[0];
  for (let i = 0; i < 5; i++) expect((await adminLogIn(world.gateway, "admin", "wrong", from("203.0.113.40"))).status).toBe(401);
  expect(await newest()).toMatchObject({ client_ip: "203.0.113.40", after: { reason: "wrong_password" } });
  expect((await adminLogIn(world.gateway, "admin", ADMIN_PASSWORD, from("198.51.100.1", "203.0.113.40"))).status).toBe(429);
  expect((await adminLogIn(world.gateway, "admin", ADMIN_PASSWORD, from("203.0.113.41"))).status).toBe(200);
  await adminLogIn(open, "admin", "wrong", from("203.0.113.42"));
  expect((await newest()).client_ip).toBe("127.0.0.1");
});

test("a refused request to the control plane is in the admin log with its address, and counted in the metrics", async () => {
  const { adminUrl } = world.gateway;
  const reply = await fetch(`${adminUrl}/v1/admin/providers`, {
    method: "POST",
    headers: { authorization: "Bearer stolen-secret", ...from("203.0.113.50") },
  });
  expect(reply.status).toBe(401);
  const told = async () =>
    (await world.admin.get("/v1/admin/admin-log?action=refused&page_size=200")).entries.filter(
      (entry: { client_ip: string }) => entry.client_ip === "203.0.113.50",
    );
  expect(await until(told, (entries) => entries.length > 0)).toMatchObject([
    {
      tenant_id: null,
      actor_id: null,
      resource: "POST /v1/admin/providers",
      request_id: reply.headers.get("x-request-id"),
      after: { reason: "credential_unknown", attempts: 1 },
    },
  ]);
  expect(JSON.stringify(await told())).not.toContain("stolen-secret");
  expect(await (await fetch(`${adminUrl}/metrics`)).text()).toContain('gatehouse_admin_refused_total{reason="credential_unknown"} 1');
});
