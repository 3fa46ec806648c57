import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AdminClient, signIn } from "../../support/worlds/admin.ts";
import { type DatabaseProxy, databaseProxy } from "../../support/processes/database-proxy.ts";
import { testDatabase, type TestDatabase } from "../../support/database.ts";
import { ADMIN_PASSWORD, type GatewayProcess, removeDirectory, startGateway } from "../../support/gateway.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { newPerson, type PortalClient } from "../../support/worlds/portal.ts";

let database: TestDatabase;
let proxy: DatabaseProxy;
let gateway: GatewayProcess;
let admin: AdminClient;
let person: PortalClient;

beforeAll(async () => {
  database = await testDatabase();
  proxy = await databaseProxy(database.url);
  gateway = await startGateway({ databaseUrl: proxy.url });
  admin = await signIn(gateway.adminUrl);
  person = await newPerson(gateway.runtimeUrl, "zoe");
});
afterAll(async () => {
  await gateway.stop();
  await proxy.close();
  await database.close();
  await removeDirectory(gateway.dataDir);
});

const ready = (plane: string) =>
  fetch(`${plane}/readyz`, { signal: AbortSignal.timeout(4_000) }).then(async (response) => [
    response.status,
    ((await response.json()) as { detail?: string }).detail,
  ]);

test("requests that need the database get 503 database_unavailable while it is down", async () => {
  const login = () =>
    fetch(`${gateway.adminUrl}/v1/admin-users/system/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ username: "admin", password: ADMIN_PASSWORD }),
    });
  expect((await person.request("GET", "/notifications")).status).toBe(200);
  await proxy.stop();
  const refused = await login();
  expect([refused.status, refused.headers.get("retry-after"), await refused.json()]).toEqual([
    503,
    "1",
    { detail: "The gateway's database does not answer just now.", code: "database_unavailable" },
  ]);
  expect((await admin.request("GET", "/v1/admin/tenants")).body).toMatchObject({ code: "database_unavailable" });
  const portal = await person.request("GET", "/notifications");
  expect([portal.status, portal.body]).toEqual([
    503,
    { error: "The gateway's database does not answer just now.", code: "database_unavailable" },
  ]);
  await proxy.start();
  expect((await login()).status).toBe(200);
});

test("/readyz?for=calls stays ready while the database is down, and calls are served", async () => {
  const { resource_groups: groups } = await admin.get("/v1/admin/resource-groups");
  const { key } = await admin.post(`/v1/admin/resource-groups/${groups[0].id}/api-keys`, { name: "caller" });
  const call = () =>
    fetch(`${gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": key },
      body: JSON.stringify({ model: "echo", messages: [{ role: "user", content: "x" }] }),
    });
  expect((await call()).status).toBe(200);
  await proxy.stop();
  for (const plane of [gateway.adminUrl, gateway.runtimeUrl]) {
    expect((await ready(plane))[0]).toBe(503);
    expect((await fetch(`${plane}/readyz?for=calls`)).status).toBe(200);
  }
  expect((await call()).status).toBe(200);
  await proxy.start();
});

test("/readyz reports a database that accepts connections but does not answer, on both planes", async () => {
  proxy.silence();
  for (const plane of [gateway.adminUrl, gateway.runtimeUrl])
    expect(await ready(plane)).toEqual([503, expect.stringContaining("the database does not answer")]);
  await proxy.stop();
  await proxy.start();
  // The pool still contains old, broken connections, each of which fails once more.
  const deadline = Date.now() + PATIENCE_MS;
  for (const plane of [gateway.adminUrl, gateway.runtimeUrl])
    while ((await ready(plane))[0] !== 200) if (Date.now() > deadline) throw new Error("not ready again");
});
