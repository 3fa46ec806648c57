import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { testDatabase, type TestDatabase } from "../../tests/support/database.ts";
import { systemClock } from "../kernel/clock.ts";
import { ulid } from "../kernel/ids.ts";
import { exportChain } from "./chains/chain-export.ts";
import { verifyChain } from "./chains/chains.ts";
import { eraseDataSubject, journalScrubber, listErasures } from "./erasure.ts";
import { changesAfter, latestVersion } from "../store/records/config-changes.ts";
import { shipAuditRows } from "../store/ledger/audit-shipping.ts";
import { storeAnswer } from "../store/models/semantic-cache-entries.ts";
import type { Ledger } from "./ledger.ts";
import { callRow, temporaryDirectory, testLedger } from "./test-support.ts";

const clock = systemClock();
const directory = temporaryDirectory();
let database: TestDatabase;
let ledger: Ledger;
let away = false;

beforeAll(async () => {
  database = await testDatabase();
  ledger = await testLedger(database.db, directory, {
    ship: (db, shipment) => (away ? Promise.reject(new Error("the database is away")) : shipAuditRows(db, shipment)),
  });
});
afterAll(async () => {
  await ledger.close();
  await database.close();
});

const MARY = {
  tenant_id: "t",
  api_key_id: null,
  api_key_name: "marys key",
  gateway_user_id: "u-mary",
  gateway_user_username: "mary",
  idp_user_email: "mary@example.com",
  subject_id: "u-mary",
  subject_kind: "user",
  client_ip: "192.0.2.77",
  request_body_preview: "a secret of mary",
  target_url: "https://files.example:8443/people/mary-smith/letters",
  root_task_id: "run-mary",
  trace_continuity: "client_asserted",
  request_headers: { "x-gw-run-id": "marys divorce" },
};
const JOHN = {
  tenant_id: "t",
  gateway_user_username: "john",
  idp_user_email: "john@example.com",
  subject_id: "u-john",
  request_body_preview: "what john said",
};

const MARYS_CALL = ulid();

/** Stores a cached answer that was produced by a call. */
async function keepAnswer(callId: string, answer: string): Promise<void> {
  const config = crypto.randomUUID();
  await sql`INSERT INTO tenants (id, name, data_retention) VALUES ('t', 't', '{}') ON CONFLICT DO NOTHING`.execute(database.db);
  await sql`INSERT INTO semantic_cache_configs (id, tenant_id, name, exact_match, semantic_match, generation) VALUES (${config}, 't', ${config}, '{}', '{}', gen_random_uuid())`.execute(
    database.db,
  );
  await sql`INSERT INTO semantic_cache_entries (id, tenant_id, config_id, exact_key, model_id, model_name, answer, tokens, call_id, created_at) VALUES (${ulid()}, 't', ${config}, 'k', gen_random_uuid(), 'm', ${JSON.stringify({ answer })}::text::jsonb, 1, ${callId}, now())`.execute(
    database.db,
  );
}

const erase = (subject: object) =>
  database.db
    .transaction()
    .execute((trx) => eraseDataSubject(trx, { tenantId: "t", subject, reason: "asked for", requestedBy: "admin" }, clock));
const journal = () =>
  readdirSync(directory)
    .filter((name) => name.endsWith(".log"))
    .map((name) => readFileSync(join(directory, name), "utf8"))
    .join("");
async function everythingStored(): Promise<string> {
  const lines: string[] = [];
  for (const table of ["audit_rows", "runs", "data_erasures", "semantic_cache_entries"])
    lines.push(JSON.stringify((await sql`SELECT * FROM ${sql.table(table)} WHERE tenant_id = 't'`.execute(database.db)).rows));
  for await (const line of exportChain(database.db, ledger.chainId)) if (!line.includes('"tenant_id":"other"')) lines.push(line);
  return lines.join("");
}
const TRACES = ["secret of mary", "mary-smith", "mary@example.com", "192.0.2.77", "marys divorce", '"mary"', 'u-mary"]', "marys key"];

test("content and identifiers are erased from rows, runs, exports and the journal, and the chain stays intact", async () => {
  const scrub = await journalScrubber(database.db, ledger);
  for (const row of [{ ...MARY, id: MARYS_CALL }, JOHN, MARY, { ...MARY, tenant_id: "other" }]) await ledger.seal(callRow(row));
  await ledger.shipped();
  await keepAnswer(MARYS_CALL, "an answer from the secret of mary");
  away = true;
  await ledger.seal(callRow(MARY));
  await ledger.seal(callRow(JOHN));
  const event = await erase({ idp_user_email: "mary@example.com" });
  expect([event.rows_erased, event.runs_changed, event.identifiers]).toEqual([2, 1, ["idp_user_email"]]);
  away = false;
  await ledger.shipped();
  await scrub();

  const rows = await database.db
    .selectFrom("audit_rows")
    .select(["tenant_id", "erased_at", "subject_id", "request_body_preview", "request_content_hash", "target_url"])
    .orderBy("chain_seq")
    .execute();
  expect(rows.map((row) => [row.tenant_id, row.erased_at !== null])).toEqual([
    ["t", true],
    ["t", false],
    ["t", true],
    ["other", false],
    ["t", true],
    ["t", false],
  ]);
  expect(rows[0]).toMatchObject({ subject_id: "u-mary", request_body_preview: null, request_content_hash: "ab".repeat(32) });
  expect(rows.map(({ target_url: url }) => url).slice(0, 2)).toEqual(["https://files.example:8443", String(callRow().target_url)]);
  const stored = await everythingStored();
  for (const trace of TRACES) {
    expect(stored).not.toContain(trace);
    expect(journal()).not.toContain(trace);
  }
  expect(stored).toContain("john@example.com");
  const verified = await verifyChain(database.db, ledger.chainId);
  expect([verified.verdict, verified.bodies_erased, verified.findings]).toEqual(["intact", 3, []]);
});

test("the journal keeps nothing of a call that was in progress during the erasure", async () => {
  const scrub = await journalScrubber(database.db, ledger);
  const row = callRow(MARY);
  ledger.begin(row);
  await erase({ idp_user_email: "mary@example.com" });
  await scrub();
  expect(journal()).toContain("mary@example.com");
  await ledger.seal(row);
  await ledger.shipped();
  await scrub();
  for (const trace of TRACES) expect(journal()).not.toContain(trace);
  const segments = readdirSync(directory).filter((name) => name.endsWith(".log"));
  await scrub();
  expect(readdirSync(directory).filter((name) => name.endsWith(".log"))).toEqual(segments);
});

test("a cached answer of a call whose row arrives after the erasure is deleted, and every process is notified", async () => {
  const call = ulid();
  away = true;
  await ledger.seal(callRow({ ...MARY, id: call }));
  await keepAnswer(call, "an answer that was kept before its row arrived");
  await erase({ idp_user_email: "mary@example.com" });
  const generations = async () =>
    (await database.db.selectFrom("semantic_cache_configs").select("generation").execute()).map(({ generation }) => generation).toSorted();
  const [before, version] = [await generations(), await latestVersion(database.db)];
  away = false;
  await ledger.shipped();
  expect((await database.db.selectFrom("semantic_cache_entries").select("id").where("call_id", "=", call).execute()).length).toBe(0);
  const after = await generations();
  expect(after.filter((generation) => before.includes(generation))).toEqual([]);
  expect((await changesAfter(database.db, version)).map(({ tenant_id, topic }) => [tenant_id, topic])).toEqual([["t", "policy"]]);
});

test("an answer to be cached after its call was erased is not stored", async () => {
  const call = ulid();
  await ledger.seal(callRow({ ...MARY, id: call }));
  await ledger.shipped();
  await erase({ gateway_user_id: "u-mary" });
  const { id: config, generation } = await database.db
    .selectFrom("semantic_cache_configs")
    .select(["id", "generation"])
    .limit(1)
    .executeTakeFirstOrThrow();
  const answer = {
    tenant_id: "t",
    config_id: config,
    model_id: crypto.randomUUID(),
    model_name: "m",
    answer: "{}",
    tokens: 1,
    created_at: new Date(),
  };
  await storeAnswer(database.db, generation, { ...answer, id: ulid(), exact_key: "late", call_id: call });
  await storeAnswer(database.db, generation, { ...answer, id: ulid(), exact_key: "of another", call_id: ulid() });
  expect((await database.db.selectFrom("semantic_cache_entries").select("exact_key").execute()).map(({ exact_key }) => exact_key)).toEqual([
    "of another",
  ]);
});

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString().replace("Z", "000Z");
const newestErasedAt = async () =>
  (await database.db.selectFrom("audit_rows").select("erased_at").orderBy("chain_seq", "desc").limit(1).executeTakeFirstOrThrow())
    .erased_at;

test("a call after the erasure is not erased", async () => {
  await ledger.seal(callRow({ ...MARY, timestamp: inAnHour() }));
  await ledger.shipped();
  expect(await newestErasedAt()).toBeNull();
});

test("a span from a sender whose clock is ahead is erased, stored or not yet shipped", async () => {
  expect((await erase({ gateway_user_id: "u-mary", idp_user_email: "mary@example.com" })).rows_erased).toBe(1);
  away = true;
  await ledger.seal(callRow({ ...MARY, source: "otel", timestamp: inAnHour() }));
  expect((await erase({ gateway_user_id: "u-mary" })).rows_erased).toBe(0);
  away = false;
  await ledger.shipped();
  expect(await newestErasedAt()).not.toBeNull();
});

test("erasure events are listed without the subject's identifiers, and cannot be changed", async () => {
  const { items, total } = await listErasures(database.db, "t", { limit: 10, offset: 0 });
  expect([total, items.at(-1)?.identifiers, items.at(-1)?.reason]).toEqual([6, ["idp_user_email"], "asked for"]);
  expect((await listErasures(database.db, "other", { limit: 10, offset: 0 })).total).toBe(0);
  expect(JSON.stringify(items)).not.toContain("mary");
  expect(sql`DELETE FROM data_erasures`.execute(database.db)).rejects.toThrow("append-only");
});
