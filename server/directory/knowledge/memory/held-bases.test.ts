import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import pg from "pg";
import { testDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { until } from "../../../../tests/support/until.ts";
import { HeldBases } from "./held-bases.ts";
import type { PassageMemory } from "./passage-memory.ts";
import { byWords, visibleTo } from "./search-memory.ts";

const TENANT = "acme";
let database: TestDatabase;
let base = "";
const clients: pg.Client[] = [];

async function connected(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  clients.push(client);
  return client;
}

let writer: pg.Client;
beforeAll(async () => {
  database = await testDatabase({ likeOthers: false });
  writer = await connected();
  await writer.query("INSERT INTO tenants (id, name, data_retention) VALUES ($1, 'acme', '{}')", [TENANT]);
});
afterAll(async () => {
  for (const client of clients) await client.end();
  await database.close();
});
beforeEach(async () => {
  base = crypto.randomUUID();
  await writer.query("INSERT INTO knowledge_bases (id, tenant_id, name) VALUES ($1, $2, $3)", [base, TENANT, base]);
});

async function add(client: pg.Client, text: string, principals: readonly string[] | null = null): Promise<string> {
  const id = crypto.randomUUID();
  await client.query(
    `INSERT INTO knowledge_documents (id, knowledge_base_id, tenant_id, name, kind, content, digest, size_bytes, status, chunk_count, principals)
     VALUES ($1, $2, $3, $5, 'text', '', '', 0, 'ready', 1, $4)`,
    [id, base, TENANT, principals, id],
  );
  await client.query(
    `INSERT INTO knowledge_chunks (document_id, ordinal, knowledge_base_id, tenant_id, heading, body, tokens, digest, lexemes)
     VALUES ($1, 0, $2, $3, '', $4, 10, '', to_tsvector('english', $4))`,
    [id, base, TENANT, text],
  );
  return id;
}

const memoryOf = async (bases: HeldBases): Promise<PassageMemory> =>
  (await until(
    () => bases.upToDate(TENANT, base),
    (memory) => memory !== null,
  )) as PassageMemory;

async function found(bases: HeldBases, word: string, principals: readonly string[] | null = null): Promise<string[]> {
  const memory = await memoryOf(bases);
  return byWords(memory, visibleTo(memory, principals === null ? null : new Set(principals), null), [word], 50).map(
    ({ document_id: id }) => id,
  );
}

test("documents added, changed and deleted by any process are visible to the next search", async () => {
  const [here, there] = [new HeldBases(database.db, 1e8), new HeldBases(database.db, 1e8)];
  const first = await add(writer, "a violin and a harbour");
  expect(await found(here, "violin")).toEqual([first]);
  const second = await add(writer, "two violins");
  expect((await found(here, "violin")).toSorted()).toEqual([first, second].toSorted());
  expect((await found(there, "violin")).toSorted()).toEqual([first, second].toSorted());
  await writer.query("UPDATE knowledge_documents SET principals = '{git:,git:staff}' WHERE id = $1", [second]);
  expect(await found(here, "violin", ["*"])).toEqual([first]);
  expect((await found(there, "violin", ["*", "git:staff"])).toSorted()).toEqual([first, second].toSorted());
  await writer.query("UPDATE knowledge_chunks SET body = 'a garden', lexemes = to_tsvector('english', 'a garden') WHERE document_id = $1", [
    first,
  ]);
  await writer.query("UPDATE knowledge_documents SET processed_at = now() WHERE id = $1", [first]);
  expect([await found(here, "violin"), await found(here, "garden")]).toEqual([[second], [first]]);
  await writer.query("DELETE FROM knowledge_documents WHERE id = $1", [second]);
  expect([await found(here, "violin"), await found(there, "violin")]).toEqual([[], []]);
});

test("a document whose transaction began earlier and ends later than others is found as well", async () => {
  const bases = new HeldBases(database.db, 1e8);
  const late = await connected();
  await add(writer, "before all");
  await late.query("BEGIN");
  const id = crypto.randomUUID();
  await late.query(
    `INSERT INTO knowledge_documents (id, knowledge_base_id, tenant_id, name, kind, content, digest, size_bytes, status, chunk_count)
     VALUES ($1, $2, $3, 'late', 'text', '', '', 0, 'ready', 1)`,
    [id, base, TENANT],
  );
  const other = await add(writer, "a zeppelin of somebody else");
  expect(await found(bases, "zeppelin")).toEqual([other]);
  await late.query(
    `INSERT INTO knowledge_chunks (document_id, ordinal, knowledge_base_id, tenant_id, heading, body, tokens, digest, lexemes)
     VALUES ($1, 0, $2, $3, '', '', 10, '', to_tsvector('english', 'a late zeppelin'))`,
    [id, base, TENANT],
  );
  await late.query("COMMIT");
  expect((await found(bases, "zeppelin")).toSorted()).toEqual([id, other].toSorted());
});

test("a knowledge base larger than the memory limit is not held in memory", async () => {
  await add(writer, Array.from({ length: 3_000 }, (_, i) => `word${i}`).join(" "));
  const small = new HeldBases(database.db, 10_000);
  expect(await small.upToDate(TENANT, base)).toBeNull();
  expect(await small.upToDate(TENANT, base)).toBeNull();
  const memory = await memoryOf(new HeldBases(database.db, 10_000_000));
  expect(memory.bytes).toBeGreaterThan(10_000);
});

test("another tenant's knowledge base appears empty", async () => {
  await add(writer, "a violin");
  expect((await new HeldBases(database.db, 1e8).upToDate("other", base))?.documents ?? 0).toBe(0);
});
