import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { testDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { until } from "../../../tests/support/until.ts";
import { runBounded } from "../../runtime/bounded-process.ts";
import { type KnowledgeParts, openKnowledge } from "./knowledge-service.ts";

let database: TestDatabase;
let base = "";
beforeAll(async () => {
  database = await testDatabase();
  await sql`INSERT INTO tenants (id, name, data_retention) VALUES ('default', 'default', '{}')`.execute(database.db);
  const { rows } = await sql<{ id: string }>`INSERT INTO knowledge_bases (id, tenant_id, name)
    VALUES (gen_random_uuid(), 'default', 'b') RETURNING id`.execute(database.db);
  base = rows[0]?.id ?? "";
});
afterAll(() => database.close());

/** Inserts a document that has already been attempted `attempts` times. */
async function queued(content: Uint8Array, attempts = 0): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    INSERT INTO knowledge_documents (id, knowledge_base_id, tenant_id, name, kind, content, digest, size_bytes, status, attempts)
    VALUES (gen_random_uuid(), ${base}, 'default', ${crypto.randomUUID()}, 'text', ${content}, 'd', ${content.byteLength},
            ${attempts === 0 ? "queued" : "processing"}, ${attempts})
    RETURNING id`.execute(database.db);
  return rows[0]?.id ?? "";
}

async function indexAll(): Promise<void> {
  const log = { warn: () => undefined, error: () => undefined } as never;
  const { jobs } = openKnowledge({ db: database.db, log, runBounded } as unknown as KnowledgeParts);
  for (const job of jobs) await job.run();
}

async function stateOf(id: string): Promise<unknown> {
  const { rows } = await sql`SELECT status, reason FROM knowledge_documents WHERE id = ${id}`.execute(database.db);
  return rows[0];
}

async function indexed(content: Uint8Array, attempts = 0): Promise<unknown> {
  const id = await queued(content, attempts);
  await indexAll();
  return stateOf(id);
}

test("a document whose processing crashes again and again fails after 8 attempts", async () => {
  const words = new TextEncoder().encode("Otters hold hands.");
  expect(await indexed(words, 7)).toEqual({ status: "ready", reason: null });
  expect(await indexed(words, 8)).toEqual({ status: "failed", reason: "Processing it was broken off. Given up after 8 attempts." });
});

test("a document whose access rights change while it is finished is both finished and changed", async () => {
  const { db } = database;
  const stalled = () => sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(db);
  const id = await queued(new TextEncoder().encode("Otters swim."));
  let finished: Promise<void> | undefined;
  await db.transaction().execute(async (trx) => {
    // Take the lock that changes to documents take.
    await sql`SELECT FROM knowledge_bases WHERE id = ${base} FOR UPDATE`.execute(trx);
    finished = indexAll();
    await until(stalled, ({ rows }) => rows.length > 0);
    await sql`UPDATE knowledge_documents SET principals = '{}' WHERE id = ${id}`.execute(trx);
  });
  await finished;
  expect(await stateOf(id)).toEqual({ status: "ready", reason: null });
});

test("a document of millions of paragraphs is split in another process, without using much memory here", async () => {
  const content = new Uint8Array(Buffer.from("a\n\n".repeat(11_000_000)));
  // Warm up with a document of the same size, so that holding it does not count as growth.
  expect(await indexed(new Uint8Array(content.byteLength).fill(0x20))).toMatchObject({ status: "failed" });
  const peak = () => process.resourceUsage().maxRSS / 1024;
  const before = peak();
  expect(await indexed(content)).toEqual({ status: "failed", reason: "It has more than 20000 passages: split it into several." });
  expect(peak() - before).toBeLessThan(300);
});
