import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { testDatabase, type TestDatabase } from "../../../tests/support/database.ts";
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

/** What became of a document that was taken up `attempts` times before. */
async function indexed(content: Uint8Array, attempts = 0): Promise<{ readonly status: string; readonly reason: string | null }> {
  const { db } = database;
  const { rows } = await sql<{ id: string }>`
    INSERT INTO knowledge_documents (id, knowledge_base_id, tenant_id, name, kind, content, digest, size_bytes, status, attempts)
    VALUES (gen_random_uuid(), ${base}, 'default', ${crypto.randomUUID()}, 'text', ${content}, 'd', ${content.byteLength},
            ${attempts === 0 ? "queued" : "processing"}, ${attempts})
    RETURNING id`.execute(db);
  const log = { warn: () => undefined, error: () => undefined } as never;
  const { jobs } = openKnowledge({ db, log, runBounded } as unknown as KnowledgeParts);
  for (const job of jobs) await job.run();
  const { rows: found } = await sql<{ status: string; reason: string | null }>`
    SELECT status, reason FROM knowledge_documents WHERE id = ${rows[0]?.id}`.execute(db);
  return found[0] as { status: string; reason: string | null };
}

test("a document that whoever processed it did not survive is given up in the end", async () => {
  const words = new TextEncoder().encode("Otters hold hands.");
  expect(await indexed(words, 7)).toEqual({ status: "ready", reason: null });
  expect(await indexed(words, 8)).toEqual({ status: "failed", reason: "Processing it was broken off. Given up after 8 attempts." });
});

test("a document of millions of paragraphs is taken apart elsewhere than where calls are served", async () => {
  const content = new Uint8Array(Buffer.from("a\n\n".repeat(11_000_000)));
  // What it takes to hold a document as large.
  expect(await indexed(new Uint8Array(content.byteLength).fill(0x20))).toMatchObject({ status: "failed" });
  const peak = () => process.resourceUsage().maxRSS / 1024;
  const before = peak();
  expect(await indexed(content)).toEqual({ status: "failed", reason: "It has more than 20000 passages: split it into several." });
  expect(peak() - before).toBeLessThan(300);
});
