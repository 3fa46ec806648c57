import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { jsonLog } from "../../../server/kernel/log.ts";
import { openDatabase } from "../../../server/store/database.ts";
import { isUnderLegalHold } from "../../../server/store/tenants/legal-holds.ts";
import { storedBytes } from "../../support/records/stored-bytes.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";
import { newPerson } from "../../support/worlds/portal.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.end());

const ERASURE = "/v1/admin/data-erasure?tenant_id=acme";
const SUBJECT = { subject: { idp_user_email: "mary@example.com" } };
const tenantOf = (answer: { body: unknown }) => answer.body as { legal_hold: string | null; name: string };

test("a legal hold refuses erasures and the tenant's deletion, until somebody ends it", async () => {
  const { admin } = world;
  await admin.post("/v1/admin/tenants", { id: "acme", name: "Acme" });
  const path = "/v1/admin/tenants/acme";
  expect(tenantOf(await admin.request("GET", path)).legal_hold).toBeNull();
  expect(tenantOf(await admin.request("PATCH", path, { legal_hold: "case 17" })).legal_hold).toBe("case 17");

  expect(await admin.request("POST", ERASURE, SUBJECT)).toMatchObject({ status: 409, body: { code: "legal_hold" } });
  expect(await admin.request("DELETE", path)).toMatchObject({ status: 409, body: { code: "legal_hold" } });
  expect((await admin.request("POST", "/v1/admin/data-erasure?tenant_id=default", SUBJECT)).status).toBe(201);

  // A tool that replaces the record without knowing of the hold does not end it.
  expect(tenantOf(await admin.request("PUT", path, { name: "Acme Inc" }))).toMatchObject({ name: "Acme Inc", legal_hold: "case 17" });
  expect((await admin.request("PATCH", path, { legal_hold: "" })).status).toBe(400);

  await admin.request("PATCH", path, { legal_hold: null });
  expect((await admin.request("POST", ERASURE, SUBJECT)).status).toBe(201);
  expect((await admin.request("DELETE", path)).status).toBe(204);
});

test("under a hold nothing deletes content: not an administrator with an end user, nor a person with their file", async () => {
  const { admin, gateway } = world;
  const tenant = "/v1/admin/tenants/default";
  const person = await newPerson(gateway.runtimeUrl, "mary");
  const { users: people } = await admin.get("/v1/admin/end-users?tenant_id=default&search=mary");
  const one = `/v1/admin/end-users/${people[0].id}`;
  const group = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "of files", group_type: "team" });
  const { key, id: keyId } = await admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, { name: "of files" });
  const empty = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "empty", group_type: "team" });
  const files = async (method: string, path = "", body?: FormData) => {
    const reply = await fetch(`${gateway.runtimeUrl}/v1/proxy/files${path}`, { method, headers: { "x-api-key": key }, body: body ?? null });
    return { status: reply.status, body: (await reply.json().catch(() => null)) as { id?: string; code?: string } | null };
  };
  const form = new FormData();
  form.append("file", new Blob(["Dear all"], { type: "text/plain" }), "letter.txt");
  form.append("kind", "document");
  const { id } = (await files("POST", "", form)).body ?? {};
  expect(id).toBeString();

  await admin.request("PATCH", tenant, { legal_hold: "case 20" });
  expect(await admin.request("DELETE", one)).toMatchObject({ status: 409, body: { code: "legal_hold" } });
  expect((await person.request("GET", "/auth/profile")).status).toBe(200);
  // Switching the account off is not deleting it.
  expect((await admin.request("PATCH", `${one}/status`, { is_active: false })).status).toBe(200);
  expect((await files("DELETE", `/${id}`)).status).toBe(200);
  expect((await files("GET", `/${id}`)).status).toBe(404);
  expect(await storedBytes(gateway.dataDir)).toEqual([id ?? ""]);
  await admin.request("DELETE", `/v1/admin/api-keys/${keyId}`);
  expect(await admin.request("DELETE", `/v1/admin/resource-groups/${group.id}`)).toMatchObject({
    status: 409,
    body: { code: "legal_hold" },
  });
  // A group that nothing was made in may go.
  expect((await admin.request("DELETE", `/v1/admin/resource-groups/${empty.id}`)).status).toBe(204);

  await admin.request("PATCH", tenant, { legal_hold: null });
  expect((await admin.request("DELETE", one)).status).toBe(204);
  expect((await admin.request("DELETE", `/v1/admin/resource-groups/${group.id}`)).status).toBe(204);
});

test("a hold waits for an erasure that is under way, and an erasure for a hold", async () => {
  const { admin } = world;
  await admin.post("/v1/admin/tenants", { id: "busy", name: "Busy" });
  const db = openDatabase(world.databaseUrl, { log: jsonLog("error"), max: 1 });
  const erasure = "/v1/admin/data-erasure?tenant_id=busy";
  const steps: string[] = [];
  // An erasure that has found no hold, and goes on.
  await db.db.transaction().execute(async (trx) => {
    expect(await isUnderLegalHold(trx, "busy")).toBe(false);
    const held = admin
      .request("PATCH", "/v1/admin/tenants/busy", { legal_hold: "case 21" })
      .then(({ status }) => steps.push(`held ${status}`));
    await until(async () => {
      const { rows } = await sql`SELECT FROM pg_locks WHERE NOT granted`.execute(trx);
      return rows.length > 0;
    });
    steps.push("erased");
    void held;
  });
  await until(async () => steps.length === 2);
  expect(steps).toEqual(["erased", "held 200"]);
  expect(await admin.request("POST", erasure, SUBJECT)).toMatchObject({ status: 409, body: { code: "legal_hold" } });
  await db.close();
});
