import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AdminClient, rowOf, type Served, serveModels, signIn } from "../support/admin.ts";
import { ADMIN_PASSWORD } from "../support/gateway.ts";
import { startWorld, type World } from "../support/world.ts";

let world: World;
let served: Served;
let officer: AdminClient;

beforeAll(async () => {
  world = await startWorld();
  served = await serveModels(world.admin, world.upstream.baseUrl, ["fake-1"]);
  await world.admin.post("/v1/admin/tenants", { id: "acme", name: "acme" });
  const login = { username: "officer", password: ADMIN_PASSWORD, tenant_id: "acme" };
  await world.admin.post("/v1/admin/admin-users", { ...login, role: "security" });
  officer = await signIn(world.gateway.adminUrl, login, "tenant");
});
afterAll(() => world.end());

async function call(headers: Record<string, string>): Promise<{ status: number; id: string }> {
  const reply = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ model: "fake-1", messages: [{ role: "user", content: "x" }] }),
  });
  await reply.arrayBuffer();
  return { status: reply.status, id: reply.headers.get("x-request-id") ?? "" };
}

test("a call without a good credential is on the record of the tenant it names, where its security officer finds it", async () => {
  const unknown = { authorization: `Bearer sk_gw_api_${"x".repeat(43)}` };
  for (const [credential, reason] of [
    [{}, "credential_missing"],
    [unknown, "credential_unknown"],
  ] as const) {
    const { id, status } = await call({ ...credential, "x-tenant-id": "acme" });
    expect(status).toBe(401);
    expect(await rowOf(officer, { id })).toMatchObject({ tenant_id: "acme", error_type: reason });
  }
  for (const named of ["nobody-there", "No Slug"]) {
    const { id } = await call({ "x-tenant-id": named });
    expect(await rowOf(world.admin, { id })).toMatchObject({ tenant_id: null, error_type: "credential_missing" });
  }
  // A key says whose call it is, whatever else is claimed.
  const { id } = await call({ "x-api-key": served.apiKey, "x-tenant-id": "acme" });
  expect(await rowOf(world.admin, { id })).toMatchObject({ tenant_id: "default", error_type: "tenant_mismatch" });
});

test("many of them in a minute raise one alert of the tenant", async () => {
  const refused = async () => (await officer.get("/v1/admin/alerts")).alerts as { alert_type: string; group_id: string | null }[];
  for (let round = 0; (await refused()).length === 0; round++) {
    expect(round).toBeLessThan(100);
    await Promise.all(Array.from({ length: 60 }, () => call({ "x-tenant-id": "acme" })));
  }
  expect(await refused()).toMatchObject([{ alert_type: "refused_credentials", tenant_id: "acme", group_id: null, resolved: false }]);
});
