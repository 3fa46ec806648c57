import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sql } from "kysely";
import { jsonLog } from "../../../server/kernel/log.ts";
import { openDatabase } from "../../../server/store/database.ts";
import { GROUP, patchOf, scimClient, type ScimClient } from "../../support/identity/scim.ts";
import { startWorld, type World } from "../../support/world.ts";

const GROUPS = 200;
/** Members of each group. */
const MEMBERS = 500;
/** Members of one more group. */
const EVERYBODY = 12_001;

let world: World;
let scim: ScimClient;

beforeAll(async () => {
  world = await startWorld();
  const { token } = await world.admin.post("/v1/admin/scim-tokens", { name: "Okta", directory: "okta", tenant_id: "default" });
  scim = scimClient(world.gateway.adminUrl, token);
  const { db, close } = openDatabase(world.databaseUrl, { log: jsonLog("error"), max: 1 });
  const people = async (prefix: string, count: number) => {
    await sql`INSERT INTO end_users (id, tenant_id, username, password_hash, is_active, is_verified, tokens_valid_from, created_at, updated_at)
      SELECT gen_random_uuid(), 'default', ${prefix}::text || n, '!', true, true, now(), now(), now() FROM generate_series(1, ${count}) n`.execute(
      db,
    );
    await sql`INSERT INTO scim_users (end_user_id, tenant_id, source, attributes, active, shut_out, created_at, updated_at)
      SELECT id, 'default', 'okta', '{}', true, false, now(), now() FROM end_users WHERE username LIKE ${`${prefix}%`}`.execute(db);
  };
  await people("person-", MEMBERS);
  await sql`INSERT INTO end_user_groups (id, tenant_id, name, display_name, created_at, updated_at)
    SELECT gen_random_uuid(), 'default', 'group-' || n, 'group-' || n, now(), now() FROM generate_series(1, ${GROUPS}) n`.execute(db);
  await sql`INSERT INTO scim_groups (end_user_group_id, tenant_id, source, display_name, created_at, updated_at)
    SELECT id, 'default', 'okta', name, now(), now() FROM end_user_groups WHERE name LIKE 'group-%'`.execute(db);
  await sql`INSERT INTO end_user_group_members (group_id, end_user_id, source, tenant_id)
    SELECT g.end_user_group_id, u.end_user_id, 'okta', 'default' FROM scim_groups g CROSS JOIN scim_users u`.execute(db);
  await people("more-", EVERYBODY - MEMBERS);
  await close();
});
afterAll(() => world.end());

test("a list of large groups has short pages that together contain every member of every group once", async () => {
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

test("a list of groups without members has as many groups as requested", async () => {
  const { body } = await scim.send("GET", "/Groups?count=200&excludedAttributes=members");
  expect([body.itemsPerPage, body.Resources[0].members]).toEqual([GROUPS, undefined]);
});

describe("a group with more members than are written at once into a response", () => {
  const valuesOf = (group: any) => new Set(group.members.map(({ value }: { value: string }) => value));
  let id: string;
  let ids: Set<string>;

  beforeAll(async () => {
    ids = new Set();
    for (let startIndex = 1; startIndex <= EVERYBODY; startIndex += 200)
      for (const one of (await scim.send("GET", `/Users?count=200&startIndex=${startIndex}&attributes=id`)).body.Resources) ids.add(one.id);
  });

  test("is created and replaced, with all members in the response", async () => {
    const members = [...ids].map((value) => ({ value }));
    const made = await scim.send("POST", "/Groups", { schemas: [GROUP], displayName: "everybody", members });
    expect([made.status, made.body.members.length, valuesOf(made.body)]).toEqual([201, EVERYBODY, ids]);
    id = made.body.id;
    const changed = await scim.send("PUT", `/Groups/${id}`, { schemas: [GROUP], displayName: "Everybody", members });
    expect([changed.status, changed.body.displayName, valuesOf(changed.body)]).toEqual([200, "Everybody", ids]);
  });

  test("is streamed when read by ID and when found by name", async () => {
    const alone = await scim.send("GET", `/Groups/${id}`);
    const [first] = alone.body.members;
    expect(Object.keys(first).toSorted()).toEqual(["$ref", "display", "type", "value"]);
    expect([alone.body.members.length, valuesOf(alone.body), alone.body.meta.version]).toEqual([EVERYBODY, ids, alone.headers.get("etag")]);
    const found = await scim.send("GET", `/Groups?filter=${encodeURIComponent('displayName eq "everybody"')}`);
    const [group] = found.body.Resources;
    expect([found.body.totalResults, found.body.itemsPerPage, group.members.length, valuesOf(group)]).toEqual([1, 1, EVERYBODY, ids]);
    for (const { headers } of [alone, found])
      expect([headers.get("content-length"), headers.get("content-type")]).toEqual([null, "application/scim+json"]);
    const known = await scim.send("GET", `/Groups/${id}`, undefined, { "if-none-match": alone.headers.get("etag") ?? "" });
    expect(known.status).toBe(304);
  });

  test("includes only the requested attributes of its members, or no members", async () => {
    const values = await scim.send("GET", `/Groups/${id}?attributes=members.value`);
    expect([Object.keys(values.body).toSorted(), values.body.members[0], valuesOf(values.body)]).toEqual([
      ["id", "members", "schemas"],
      { value: values.body.members[0].value },
      ids,
    ]);
    const unreferenced = await scim.send("GET", `/Groups/${id}?excludedAttributes=members.$ref,meta`);
    expect([Object.keys(unreferenced.body.members[0]).toSorted(), unreferenced.body.meta]).toEqual([
      ["display", "type", "value"],
      undefined,
    ]);
    for (const query of [
      "excludedAttributes=members",
      "attributes=displayName",
      "excludedAttributes=members.value,members.$ref,members.type,members.display",
    ])
      expect((await scim.send("GET", `/Groups/${id}?${query}`)).body.members).toBeUndefined();
  });

  test("loses a removed member, and is deleted", async () => {
    const [gone] = ids;
    await scim.send("PATCH", `/Groups/${id}`, patchOf({ op: "Remove", path: "members", value: [{ value: gone }] }));
    const { body } = await scim.send("GET", `/Groups/${id}`);
    expect([body.members.length, valuesOf(body).has(gone)]).toEqual([EVERYBODY - 1, false]);
    expect((await scim.send("DELETE", `/Groups/${id}`)).status).toBe(204);
  });
});
