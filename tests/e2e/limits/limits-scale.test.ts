import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { sql } from "kysely";
import { compose, type Gateway } from "../../../server/compose.ts";
import { readConfiguration } from "../../../server/kernel/configuration/configuration.ts";
import { jsonLog } from "../../../server/kernel/log.ts";
import { type AdminClient, type Served, serveModels, signIn } from "../../support/worlds/admin.ts";
import { BACKGROUND_STATEMENTS } from "../../support/processes/background-statements.ts";
import { testDatabase, type TestDatabase } from "../../support/database.ts";
import { type FakeUpstream, startFakeUpstream } from "../../support/vendors/fake-upstream.ts";
import { ADMIN_PASSWORD, removeDirectory, temporaryDirectory } from "../../support/gateway.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { leastOf, servedBy } from "../../support/until.ts";

/** A thousand groups, eight levels deep, and a hundred thousand keys, on two processes that share a database. */
const GROUPS = 1_000;
const KEYS = 100_000;
const LEVELS = 8;

/** SQL statements of the first process. The other applies changes made there in its own time. */
const statements: string[] = [];
const gateways: Gateway[] = [];
const folders: string[] = [];
let database: TestDatabase;
let upstream: FakeUpstream;
let admin: AdminClient;
let served: Served;
/** Groups of the deepest level. */
let leaves: string[] = [];

const keyOf = (n: number) => `sk_gw_api_${String(n).padStart(43, "k")}`;

beforeAll(async () => {
  database = await testDatabase();
  upstream = startFakeUpstream();
  for (let i = 0; i < 2; i++) {
    const folder = await temporaryDirectory();
    folders.push(folder);
    const env = {
      GW_RUNTIME_PORT: "0",
      GW_ADMIN_PORT: "0",
      GW_DATA_DIR: folder,
      DATABASE_URL: database.url,
      GW_BOOTSTRAP_ADMIN_PASSWORD: ADMIN_PASSWORD,
      GW_SECRET_KEY: Buffer.alloc(32, 7).toString("base64"),
      GW_AUDIT_DURABILITY: "relaxed",
    };
    gateways.push(
      await compose(readConfiguration(env), env, jsonLog("error"), i === 0 ? { onQuery: (text) => statements.push(text) } : {}),
    );
  }
  admin = await signIn((gateways[0] as Gateway).adminUrl);
  served = await serveModels(admin, upstream.baseUrl, ["fake-1"], { group: "root" });
  const ids: string[] = [served.groupId];
  const rows: { id: string; parent: string; level: number }[] = [];
  const perLevel = Math.floor(GROUPS / (LEVELS - 1));
  for (let level = 1; level < LEVELS; level++) {
    const above = level === 1 ? ids : rows.filter((row) => row.level === level - 1).map(({ id }) => id);
    for (let i = 0; i < perLevel; i++) rows.push({ id: crypto.randomUUID(), parent: above[i % above.length] as string, level });
  }
  leaves = rows.filter(({ level }) => level === LEVELS - 1).map(({ id }) => id);
  for (const { id, parent } of rows)
    await sql`INSERT INTO resource_groups (id, tenant_id, parent_group_id, name) VALUES (${id}, 'default', ${parent}, ${id})`.execute(
      database.db,
    );
  await sql`INSERT INTO group_policies (tenant_id, group_id, kind, document) SELECT 'default', id, 'llm_limits', '{"requests":{"daily_limit":1000000}}' FROM resource_groups WHERE tenant_id = 'default'`.execute(
    database.db,
  );
  const keys = Array.from({ length: KEYS }, (_, n) => ({
    id: crypto.randomUUID(),
    group: leaves[n % leaves.length] as string,
    hash: createHash("sha256").update(keyOf(n)).digest("hex"),
  }));
  for (let at = 0; at < KEYS; at += 20_000) {
    const some = keys.slice(at, at + 20_000);
    await sql`INSERT INTO api_keys (id, tenant_id, name, scope, access_mode, resource_group_id, key_hash, key_hint)
              SELECT i, 'default', 'k', 'group', 'shared', g, h, 'k' FROM unnest(${some.map(({ id }) => id)}::uuid[], ${some.map(({ group }) => group)}::uuid[], ${some.map(({ hash }) => hash)}::text[]) AS u(i, g, h)`.execute(
      database.db,
    );
  }
  // Rows written directly to the database take effect with the next change.
  await admin.request("PATCH", `/v1/admin/resource-groups/${served.groupId}`, { description: "now" });
  await servedBy(
    gateways.map(({ runtimeUrl }) => ({ runtimeUrl: runtimeUrl ?? "" })),
    "fake-1",
    keyOf(0),
  );
});

afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.stop()));
  await upstream.stop();
  await database.close();
  await Promise.all(folders.map(removeDirectory));
});

const call = async (gateway: Gateway, key: string) => {
  const response = await fetch(`${gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": key },
    body: JSON.stringify({ model: "fake-1", messages: [{ role: "user", content: "x" }] }),
  });
  return { status: response.status, body: await response.text() };
};

/** Statements that reconcile counters with the database. */
const COUNTERS = /usage_daily/i;

test("a change of limits at the root or a leaf applies in every process within a second of the PATCH", async () => {
  for (const gateway of gateways) {
    for (let at = 0; at < leaves.length; at += 20) {
      const some = await Promise.all(Array.from({ length: Math.min(20, leaves.length - at) }, (_, i) => call(gateway, keyOf(at + i))));
      expect(some.every(({ status }) => status === 200)).toBe(true);
    }
  }
  /** Milliseconds from the answer to the PATCH until calls get `status`, at the slowest process. */
  const patched = async (limits: object, status: number) => {
    const llm_global_limits = { requests: { daily_limit: 1_000_000 }, ...limits };
    const path = `/v1/admin/resource-groups/${served.groupId}/llm-global-limits`;
    expect((await admin.request("PATCH", path, { llm_global_limits })).status).toBe(200);
    const since = performance.now();
    const inForce = gateways.map(async (gateway) => {
      for (;;) {
        const began = performance.now();
        if ((await call(gateway, keyOf(3))).status === status) return began - since;
        if (began - since > PATIENCE_MS) throw new Error("the change never arrived");
      }
    });
    return Math.max(...(await Promise.all(inForce)));
  };
  const ms = await leastOf(4, 1_000, async () =>
    Math.max(await patched({ concurrency: { max_concurrent: 0 } }, 429), await patched({}, 200)),
  );
  console.log(`${GROUPS} groups, ${leaves.length} leaves in use: in force after ${ms.toFixed(0)} ms`);
  expect(ms).toBeLessThan(1_000);
});

test("a call under eight levels of limits reads no database", async () => {
  const gateway = gateways[0] as Gateway;
  for (let i = 0; i < 20; i++) expect((await call(gateway, keyOf(i))).status).toBe(200);
  statements.length = 0;
  for (let round = 0; round < 10; round++) for (let i = 0; i < 20; i++) expect((await call(gateway, keyOf(i))).status).toBe(200);
  expect(statements.filter((text) => !BACKGROUND_STATEMENTS.test(text) && !COUNTERS.test(text))).toEqual([]);
});

test("reading the consumption below a root of a thousand groups takes less than a second", async () => {
  const ms = await leastOf(4, 1_000, async () => {
    const began = performance.now();
    const { limits } = await admin.get(`/v1/admin/resource-groups/${leaves[0]}/consumption`);
    expect(limits.length).toBe(LEVELS);
    return performance.now() - began;
  });
  console.log(`consumption with ${GROUPS} groups: ${ms.toFixed(0)} ms`);
  expect(ms).toBeLessThan(1_000);
});
