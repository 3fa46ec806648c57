import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { testDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { until } from "../../../tests/support/until.ts";
import type { Directory } from "../../directory/writes/write.ts";
import { type SourcePlace, SourceUnavailable } from "../../upstreams/knowledge-sources/source.ts";
import { openConnectors } from "./sync-connectors.ts";

/** Sources that never answer, or ask to be left alone. */
let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

async function connector(tenant: string): Promise<void> {
  const { db } = database;
  await sql`INSERT INTO tenants (id, name, data_retention) VALUES (${tenant}, ${tenant}, '{}')`.execute(db);
  await sql`WITH base AS (INSERT INTO knowledge_bases (id, tenant_id, name) VALUES (gen_random_uuid(), ${tenant}, 'b') RETURNING id)
    INSERT INTO knowledge_connectors (id, tenant_id, name, knowledge_base_id, connector_type, location, mapping_file, every_minutes, enabled)
    SELECT gen_random_uuid(), ${tenant}, 'c', id, 'directory', 'x', 'm.json', 1, true FROM base`.execute(db);
}

test("sources that do not answer hold up nobody for long, and one that asks to be left alone is", async () => {
  for (const tenant of ["slow-1", "slow-2", "slow-3", "slow-4"]) await connector(tenant);
  let now = Date.now();
  const opened: string[] = [];
  const connectors = openConnectors({
    directory: { db: database.db, secrets: { openOrNull: () => null }, clock: { now: () => now } } as unknown as Directory,
    openSource: async ({ tenantId, signal }: SourcePlace) => {
      opened.push(tenantId);
      if (tenantId === "busy") throw new SourceUnavailable("It is asked too often.", 3_600_000);
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      throw new Error("nobody waits for it");
    },
    log: { warn: () => undefined, info: () => undefined, error: () => undefined, debug: () => undefined } as never,
  });
  const [job] = connectors.jobs;
  await job?.run();
  expect(opened.toSorted()).toEqual(["slow-1", "slow-2", "slow-3", "slow-4"]);
  await connector("busy");
  await job?.run();
  expect(opened.length).toBe(4);
  now += 30_000;
  await job?.run();
  expect(opened.at(-1)).toBe("busy");
  const due = async () =>
    (
      await sql<{ wait: string; problem: string | null }>`
        SELECT extract(epoch FROM due_at - now()) AS wait, problem FROM knowledge_connectors WHERE tenant_id = 'busy'`.execute(database.db)
    ).rows[0];
  const noted = await until(due, (row) => row?.problem != null);
  expect(noted?.problem).toBe("It is asked too often.");
  expect(Number(noted?.wait)).toBeGreaterThan(3_500);
  expect(Number(noted?.wait)).toBeLessThanOrEqual(3_600);
  await connectors.stop();
});

test("a file that is there and cannot be looked at keeps its document, and is named", async () => {
  await connector("aside");
  let shut = false;
  const texts: Record<string, string> = { "m.json": '{"":["*"]}', "a.txt": "a", "b.txt": "b" };
  const connectors = openConnectors({
    directory: { db: database.db, secrets: { openOrNull: () => null }, clock: { now: () => Date.now() } } as unknown as Directory,
    openSource: async () => ({
      async *files() {
        for (const path of Object.keys(texts)) yield { path, sizeBytes: shut && path === "a.txt" ? null : 1 };
      },
      read: async (path) => (texts[path] === undefined ? null : new TextEncoder().encode(texts[path])),
      close: async () => undefined,
    }),
    log: { warn: () => undefined, info: () => undefined, error: () => undefined, debug: () => undefined } as never,
  });
  const synced = async () => {
    await sql`UPDATE knowledge_connectors SET due_at = now(), synced_at = NULL WHERE tenant_id = 'aside'`.execute(database.db);
    const noted = await until(
      async () => {
        await connectors.jobs[0]?.run();
        const { rows } = await sql<{ at: Date | null; problem: string | null; skipped: string[] }>`
        SELECT synced_at AS at, problem, skipped FROM knowledge_connectors WHERE tenant_id = 'aside'`.execute(database.db);
        return rows[0];
      },
      (row) => row?.at != null || row?.problem != null,
    );
    const { rows } = await sql<{ name: string }>`SELECT name FROM knowledge_documents WHERE tenant_id = 'aside' ORDER BY name`.execute(
      database.db,
    );
    return { problem: noted?.problem, skipped: noted?.skipped, documents: rows.map(({ name }) => name) };
  };
  expect(await synced()).toEqual({ problem: null, skipped: [], documents: ["a.txt", "b.txt"] });
  shut = true;
  delete texts["b.txt"];
  expect(await synced()).toEqual({ problem: null, skipped: ["a.txt: could not be read"], documents: ["a.txt"] });
  await connectors.stop();
});
