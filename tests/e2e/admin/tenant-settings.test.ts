import { afterAll, beforeAll, expect, test } from "bun:test";
import { startWorld, type World } from "../../support/world.ts";

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

test("setting a tenant's retention changes nothing else of it, by PATCH and by PUT", async () => {
  const { admin } = world;
  const restricted = {
    display_name: "Careful",
    allowed_regions: ["eu"],
    local_passwords: false,
    portal_registration: "closed",
    admin_two_factor: "required",
    autonomy_floor: "restricted",
  };
  const { id, created_at } = await admin.post("/v1/admin/tenants", { name: "careful", ...restricted });
  for (const [method, body_days] of [
    ["PATCH", 11],
    ["PUT", 12],
  ] as const) {
    const data_retention = { store_bodies: "none", body_days, log_days: 200, run_days: 200 };
    const changed = await admin.request(method, `/v1/admin/tenants/${id}`, { data_retention });
    expect(changed).toMatchObject({ status: 200, body: { name: "careful", created_at, ...restricted, data_retention } });
  }
});
