import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { testDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { until } from "../../../tests/support/until.ts";
import { WaitingDocuments } from "../../directory/knowledge/waiting-documents.ts";
import type { Directory } from "../../directory/writes/write.ts";
import { chunksByWords } from "../../store/knowledge/knowledge-search.ts";
import { type SourcePlace, SourceUnavailable } from "../../upstreams/knowledge-sources/source.ts";
import { openConnectors } from "./sync-connectors.ts";

/** Sources that never answer or ask for a pause. */
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

test("unresponsive sources do not delay others for long, and a source that asks for a pause is left alone", async () => {
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

test("a file that exists but cannot be read keeps its document, and is named", async () => {
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

test("a reader added together with new content never finds the old content", async () => {
  await connector("redacted");
  const { db } = database;
  let texts: Record<string, string> = {};
  const connectors = openConnectors({
    directory: { db, secrets: { openOrNull: () => null }, clock: { now: () => Date.now() } } as unknown as Directory,
    openSource: async () => ({
      async *files() {
        for (const path of Object.keys(texts)) yield { path, sizeBytes: 1 };
      },
      read: async (path) => (texts[path] === undefined ? null : new TextEncoder().encode(texts[path])),
      close: async () => undefined,
    }),
    log: { warn: () => undefined, info: () => undefined, error: () => undefined, debug: () => undefined } as never,
  });
  const synced = async (text: string, readers: readonly string[]) => {
    texts = { "m.json": JSON.stringify({ "": readers }), "report.txt": text };
    await sql`UPDATE knowledge_connectors SET due_at = now(), synced_at = NULL WHERE tenant_id = 'redacted'`.execute(db);
    await until(
      async () => {
        await connectors.jobs[0]?.run();
        return (await sql<{ at: Date | null }>`SELECT synced_at AS at FROM knowledge_connectors WHERE tenant_id = 'redacted'`.execute(db))
          .rows[0];
      },
      (row) => row?.at != null,
    );
  };
  const indexed = async () => {
    await sql`UPDATE knowledge_documents SET due_at = now() + interval '1 hour' WHERE tenant_id <> 'redacted'`.execute(db);
    const waiting = new WaitingDocuments(db);
    const document = await waiting.takeUp();
    if (document === null) throw new Error("no document waits");
    const body = Buffer.from(document.content).toString();
    const place = { document_id: document.id, knowledge_base_id: document.knowledge_base_id, tenant_id: "redacted", ordinal: 0 };
    await waiting.finish(document, [{ ...place, heading: "", body, tokens: 3, digest: body, indexed: body }]);
  };
  const finders = async (word: string) => {
    const { rows } = await sql<{ id: string }>`SELECT id FROM knowledge_bases WHERE tenant_id = 'redacted'`.execute(db);
    const found: string[] = [];
    for (const reader of ["ada", "bob", "eve"]) {
      const scope = { tenantId: "redacted", baseIds: rows.map(({ id }) => id), filters: null, principals: ["*", `directory:${reader}`] };
      if ((await chunksByWords(db, scope, word, 10)).length > 0) found.push(reader);
    }
    return found;
  };
  await synced("Its salaries", ["ada", "eve"]);
  await indexed();
  expect(await finders("salaries")).toEqual(["ada", "eve"]);
  await synced("Its summary", ["ada", "bob"]);
  expect(await finders("salaries")).toEqual(["ada"]);
  await synced("Its summary", ["*"]);
  expect(await finders("salaries")).toEqual(["ada"]);
  await indexed();
  expect(await finders("summary")).toEqual(["ada", "bob", "eve"]);
  await synced("Its summary", ["bob"]);
  expect(await finders("summary")).toEqual(["bob"]);
  await connectors.stop();
});
