import { afterAll, beforeAll, expect, test } from "bun:test";
import { startWorld, type World } from "../../support/world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.end());

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
