import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { jsonLog } from "../../server/kernel/log.ts";
import { openDatabase } from "../../server/store/database.ts";
import { scimClient, type ScimClient } from "../support/scim.ts";
import { startWorld, type World } from "../support/world.ts";

const GROUPS = 200;
/** In each of the groups. */
const MEMBERS = 500;

let world: World;
let scim: ScimClient;

beforeAll(async () => {
  world = await startWorld();
  const { token } = await world.admin.post("/v1/admin/scim-tokens", { name: "Okta", directory: "okta", tenant_id: "default" });
  scim = scimClient(world.gateway.adminUrl, token);
  const { db, close } = openDatabase(world.databaseUrl, { log: jsonLog("error"), max: 1 });
  await sql`INSERT INTO end_users (id, tenant_id, username, password_hash, is_active, is_verified, tokens_valid_from, created_at, updated_at)
    SELECT gen_random_uuid(), 'default', 'person-' || n, '!', true, true, now(), now(), now() FROM generate_series(1, ${MEMBERS}) n`.execute(
    db,
  );
  await sql`INSERT INTO scim_users (end_user_id, tenant_id, source, attributes, active, shut_out, created_at, updated_at)
    SELECT id, 'default', 'okta', '{}', true, false, now(), now() FROM end_users WHERE username LIKE 'person-%'`.execute(db);
  await sql`INSERT INTO end_user_groups (id, tenant_id, name, display_name, created_at, updated_at)
    SELECT gen_random_uuid(), 'default', 'group-' || n, 'group-' || n, now(), now() FROM generate_series(1, ${GROUPS}) n`.execute(db);
  await sql`INSERT INTO scim_groups (end_user_group_id, tenant_id, source, display_name, created_at, updated_at)
    SELECT id, 'default', 'okta', name, now(), now() FROM end_user_groups WHERE name LIKE 'group-%'`.execute(db);
  await sql`INSERT INTO end_user_group_members (group_id, end_user_id, source, tenant_id)
    SELECT g.end_user_group_id, u.end_user_id, 'okta', 'default' FROM scim_groups g CROSS JOIN scim_users u`.execute(db);
  await close();
});
afterAll(() => world.end());

test("a list of large groups comes in short pages that together have every member of every group once", async () => {
  const seen = new Map<string, number>();
  let pages = 0;
  for (let startIndex = 1; startIndex <= GROUPS; pages++) {
    const { status, body } = await scim.send("GET", `/Groups?count=200&startIndex=${startIndex}`);
    expect([status, body.totalResults, body.itemsPerPage]).toEqual([200, GROUPS, body.Resources.length]);
    expect(body.itemsPerPage).toBeGreaterThan(0);
    expect(body.itemsPerPage).toBeLessThan(GROUPS);
    for (const { id, members } of body.Resources) {
      expect(seen.has(id)).toBe(false);
      seen.set(id, new Set(members.map(({ value }: { value: string }) => value)).size);
    }
    startIndex += body.itemsPerPage;
  }
  expect(pages).toBeGreaterThan(1);
  expect([...seen.values()]).toEqual(Array.from({ length: GROUPS }, () => MEMBERS));
});

test("a list without members has as many groups as it was asked for", async () => {
  const { body } = await scim.send("GET", "/Groups?count=200&excludedAttributes=members");
  expect([body.itemsPerPage, body.Resources[0].members]).toEqual([GROUPS, undefined]);
});
