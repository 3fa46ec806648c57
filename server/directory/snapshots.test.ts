import { expect, test } from "bun:test";
import { sql } from "kysely";
import { cpuMs } from "../../tests/support/processes/cpu-time.ts";
import { type TestDatabase, testDatabase } from "../../tests/support/database.ts";
import { secretBox } from "../kernel/secrets.ts";
import { recordedLog } from "../ledger/test-support.ts";
import { Snapshots } from "./snapshots.ts";

const nothing = () => Promise.reject(new Error("there is no policy"));
const snapshotsOf = (database: TestDatabase) => new Snapshots(database.db, secretBox(Buffer.alloc(32)), nothing, recordedLog());

async function addTenant({ db }: TestDatabase, id: string): Promise<void> {
  await db
    .insertInto("tenants")
    .values({ id, name: id, display_name: null, data_retention: JSON.stringify({}), default_judge_model_id: null })
    .execute();
}

async function addGroups(
  { db }: TestDatabase,
  tenant_id: string,
  parent_group_id: string | null,
  ids: readonly string[],
  inherits = true,
): Promise<void> {
  await db
    .insertInto("resource_groups")
    .values(
      ids.map((id) => ({
        id,
        tenant_id,
        parent_group_id,
        name: id,
        display_name: null,
        description: null,
        inherit_resources: inherits,
        eu_ai_act_risk_tier: null,
        phi_resource: null,
      })),
    )
    .execute();
}

test("concurrent first calls of a group share one read of its scope", async () => {
  const statements: string[] = [];
  const database = await testDatabase({ onQuery: (text) => statements.push(text) });
  const tenant_id = "acme";
  const groups = [crypto.randomUUID(), crypto.randomUUID()] as const;
  await addTenant(database, tenant_id);
  await addGroups(database, tenant_id, null, groups);
  const snapshots = snapshotsOf(database);
  const reads = () => statements.filter((text) => text.includes("WITH RECURSIVE chain")).length;

  const scopes = await Promise.all(Array.from({ length: 20 }, (_, i) => snapshots.scope(tenant_id, groups[i % 2] as string)));
  expect(scopes.map((scope) => scope?.groupId)).toEqual(Array.from({ length: 20 }, (_, i) => groups[i % 2]));
  expect(reads()).toBe(2);
  expect(snapshots.scope(tenant_id, groups[0]) === scopes[0]).toBe(true);

  // Missing groups are not cached, because they may be created.
  const unknown = crypto.randomUUID();
  for (let i = 0; i < 2; i++) expect(await snapshots.scope(tenant_id, unknown)).toBeNull();
  expect(reads()).toBe(4);
  await database.close();
});

test("a tenant whose first read runs during a full reload is read again", async () => {
  const statements: string[] = [];
  const database = await testDatabase({ onQuery: (text) => statements.push(text) });
  await addTenant(database, "acme");
  const snapshots = snapshotsOf(database);
  const reads = () => statements.filter((text) => text.includes('from "tenants"')).length;
  await Promise.all([snapshots.tenant("acme"), snapshots.renewAll()]);
  const once = reads() / 2;
  await snapshots.renewAll();
  expect(reads()).toBe(3 * once);
  await database.close();
});

test("preloaded tenants and scopes are available to the first call without waiting", async () => {
  const database = await testDatabase();
  const group = crypto.randomUUID();
  await addTenant(database, "acme");
  await addGroups(database, "acme", null, [group]);
  const snapshots = snapshotsOf(database);
  await snapshots.preload();
  const [tenant, scope] = [snapshots.tenant("acme"), snapshots.scope("acme", group)];
  await database.close();
  expect(tenant).toMatchObject({ id: "acme" });
  expect(scope).toMatchObject({ groupId: group });
});

test("a group has the models bound to it and to the groups it inherits from", async () => {
  const database = await testDatabase();
  const [root, middle, leaf, apart] = Array.from({ length: 4 }, () => crypto.randomUUID()) as [string, string, string, string];
  await addTenant(database, "acme");
  await addGroups(database, "acme", null, [root]);
  await addGroups(database, "acme", root, [middle]);
  await addGroups(database, "acme", middle, [leaf]);
  await addGroups(database, "acme", root, [apart], false);
  const provider = crypto.randomUUID();
  await sql`INSERT INTO providers (id, tenant_id, provider_key, name, api_format) VALUES (${provider}, 'acme', 'echo', 'Echo', 'echo')`.execute(
    database.db,
  );
  const [of, at] = [crypto.randomUUID(), crypto.randomUUID()];
  for (const [id, name] of [
    [of, "of the root"],
    [at, "of the leaf"],
  ] as const)
    await sql`INSERT INTO models (id, tenant_id, provider_id, name, model_name, modes) VALUES (${id}, 'acme', ${provider}, ${name}, ${name}, '{chat}')`.execute(
      database.db,
    );
  await sql`INSERT INTO resource_group_models (tenant_id, group_id, model_id, portal_visible) VALUES ('acme', ${root}, ${of}, false), ('acme', ${leaf}, ${of}, true), ('acme', ${leaf}, ${at}, true)`.execute(
    database.db,
  );

  const snapshots = snapshotsOf(database);
  const scopes = await Promise.all([root, middle, leaf, apart].map((id) => snapshots.scope("acme", id)));
  expect(scopes.map((scope) => scope?.chain.map(({ id }) => id))).toEqual([[root], [middle, root], [leaf, middle, root], [apart, root]]);
  expect(scopes.map((scope) => [...(scope?.granted ?? [])].sort())).toEqual([[of], [of], [of, at].sort(), []]);
  // The nearest group that binds a model determines whether the portal shows it.
  expect(scopes.map((scope) => [...(scope?.hiddenInPortal ?? [])])).toEqual([[of], [of], [], []]);
  expect(scopes.map((scope) => [...(scope?.grantingGroups ?? [])])).toEqual([[root], [middle, root], [leaf, middle, root], [apart]]);
  await database.close();
});

test("a change with 1,000 groups in use reads only what changed, and stays fast", async () => {
  const database = await testDatabase();
  const [root, groups] = [crypto.randomUUID(), Array.from({ length: 1_000 }, () => crypto.randomUUID())];
  await addTenant(database, "acme");
  await addGroups(database, "acme", null, [root]);
  await addGroups(database, "acme", root, groups);
  await sql`INSERT INTO mcp_servers (id, tenant_id, name, base_url, mcp_endpoint_path) SELECT 'mcp-' || i, 'acme', 'server ' || i, 'https://tools.example/' || i, '/mcp' FROM generate_series(1, 300) i`.execute(
    database.db,
  );
  await sql`INSERT INTO server_configs (id, tenant_id, mcp_server_id, name) SELECT gen_random_uuid(), 'acme', id, id FROM mcp_servers`.execute(
    database.db,
  );
  await sql`INSERT INTO server_config_groups (config_id, group_id, tenant_id) SELECT id, ${root}, 'acme' FROM server_configs`.execute(
    database.db,
  );
  const snapshots = snapshotsOf(database);
  for (const id of groups) await snapshots.scope("acme", id);
  const before = cpuMs();
  for (let i = 0; i < 5; i++) await snapshots.renew("acme");
  expect(cpuMs(before) / 5).toBeLessThan(150);

  const scopes = await Promise.all(groups.slice(0, 2).map((id) => snapshots.scope("acme", id)));
  expect(scopes.map((scope) => scope?.tools.size)).toEqual([300, 300]);
  expect(scopes[0]?.tools.get("mcp-7") === scopes[1]?.tools.get("mcp-7")).toBe(true);
  await database.close();
});

test("a new snapshot is prepared before it replaces the old one", async () => {
  const database = await testDatabase();
  await addTenant(database, "acme");
  const store = (store_bodies: "full" | "none") =>
    database.db
      .updateTable("tenants")
      .set({ data_retention: JSON.stringify({ store_bodies }) })
      .execute();
  await store("full");
  const inForce: (string | undefined)[] = [];
  const held = () => {
    const tenant = snapshots.tenant("acme");
    return tenant instanceof Promise ? undefined : tenant.storeBodies;
  };
  const prepared: string[] = [];
  const snapshots = new Snapshots(database.db, secretBox(Buffer.alloc(32)), nothing, recordedLog(), ({ storeBodies }) => {
    prepared.push(storeBodies);
    if (prepared.length > 1) inForce.push(held());
  });
  await snapshots.tenant("acme");
  await store("none");
  await snapshots.renew("acme");
  expect(prepared).toEqual(["full", "none"]);
  expect(inForce).toEqual(["full"]);
  expect(held()).toBe("none");
});
