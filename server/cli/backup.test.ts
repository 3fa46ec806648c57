import { afterEach, beforeEach, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { join } from "node:path";
import { sql } from "kysely";
import { ulid as ulidAt } from "ulid";
import { testDatabase, type TestDatabase } from "../../tests/support/database.ts";
import { until } from "../../tests/support/until.ts";
import type { Clock } from "../kernel/clock.ts";
import { applyRetention } from "../ledger/retention.ts";
import { callRow, recordedLog, SIGNING_KEY, temporaryDirectory, testLedger } from "../ledger/test-support.ts";
import { backupCommand } from "./backup.ts";
import { restoreCommand } from "./restore.ts";

let database: TestDatabase;
let at: number;
const clock: Clock = { now: () => at, micros: () => at * 1000 };

beforeEach(async () => {
  database = await testDatabase();
  at = Date.UTC(2026, 7, 2);
});
afterEach(() => database.close());

type Command = typeof backupCommand;

async function run(command: Command, argv: string[], env: Record<string, string> = {}): Promise<{ code: number; said: string }> {
  let said = "";
  const code = await command(argv, env, { stdout: (text) => void (said += text), stderr: (text) => void (said += text) });
  return { code, said };
}

const backUp = (file: string, env?: Record<string, string>) =>
  run(backupCommand, [file, "--database-url", database.url, "--data-dir", temporaryDirectory()], env);

/** Restores it into an empty database; `look` inspects the result. */
async function restored<T>(file: string, look: (into: TestDatabase) => Promise<T>): Promise<{ code: number; said: string; seen: T }> {
  const into = await testDatabase();
  try {
    await sql`DROP SCHEMA public CASCADE`.execute(into.db);
    await sql`CREATE SCHEMA public`.execute(into.db);
    const done = await run(restoreCommand, [file, "--database-url", into.url, "--data-dir", temporaryDirectory()]);
    return { ...done, seen: await look(into) };
  } finally {
    await into.close();
  }
}

const callIds = async ({ db }: TestDatabase) =>
  (await sql<{ id: string }>`SELECT id FROM audit_rows ORDER BY id`.execute(db)).rows.map(({ id }) => id);

async function untilWaitingForLocks(sessions: number): Promise<void> {
  await until(
    () =>
      sql<{
        n: number;
      }>`SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(database.db),
    ({ rows }) => rows[0]?.n === sessions,
  );
}

test("a backup taken while retention drops monthly partitions contains every kept row, with intact chains", async () => {
  const retention = JSON.stringify({ store_bodies: "full", body_days: 10, log_days: 20, run_days: 20 });
  await database.db
    .insertInto("tenants")
    .values({ id: "acme", name: "acme", data_retention: retention, default_judge_model_id: null } as never)
    .execute();
  await applyRetention(database.db, clock, recordedLog());
  const ended = await testLedger(database.db, temporaryDirectory(), { clock, checkpointMs: 1_000_000 });
  for (let i = 0; i < 3; i++) await ended.seal(callRow({ id: ulidAt(at), tenant_id: "acme" }));
  await ended.close();
  // No checkpoint covers the rows of that month, so they stay when its partition is dropped.
  const open = await testLedger(database.db, temporaryDirectory(), { clock, checkpointMs: 1_000_000 });
  for (let i = 0; i < 2; i++) await open.seal(callRow({ id: ulidAt(at), tenant_id: "acme" }));
  await open.shipped();

  const head = await database.db.startTransaction().execute();
  await sql`SELECT FROM admin_log_head FOR UPDATE`.execute(head);
  at = Date.UTC(2026, 10, 2);
  // The admin log is written last, when the partitions are as good as dropped.
  const dropped = applyRetention(database.db, clock, recordedLog());
  await untilWaitingForLocks(1);
  const file = join(temporaryDirectory(), "meanwhile.backup");
  const made = backUp(file, { GW_AUDIT_SIGNING_KEY: SIGNING_KEY });
  await untilWaitingForLocks(2);
  await head.rollback().execute();
  await dropped;
  expect(await made).toMatchObject({ code: 0 });
  await open.close();
  const kept = await callIds(database);
  expect(kept).toHaveLength(2);

  const { code, said, seen } = await restored(file, callIds);
  expect(seen).toEqual(kept);
  expect(said).toMatch(new RegExp(`chain ${ended.chainId} +intact`));
  expect(said).toMatch(new RegExp(`chain ${open.chainId} +intact`));
  expect(code).toBe(0);
});

test("a retired signing key signs nothing in a backup, and the backup reports which rows are unsigned", async () => {
  const newKey = generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" }) as string;
  await (await testLedger(database.db, temporaryDirectory())).close();
  const ledger = await testLedger(database.db, temporaryDirectory(), { signingKey: newKey, checkpointMs: 1_000_000 });
  await ledger.seal(callRow());
  await ledger.shipped();
  await sql`UPDATE audit_keys SET valid_to = now() WHERE valid_from = (SELECT min(valid_from) FROM audit_keys)`.execute(database.db);
  const folder = temporaryDirectory();
  const unsigned = await backUp(join(folder, "old-key.backup"), { GW_AUDIT_SIGNING_KEY: SIGNING_KEY });
  const signed = await backUp(join(folder, "new-key.backup"), { GW_AUDIT_SIGNING_KEY: newKey });
  await ledger.close();

  expect(unsigned.said).toContain(`audit chain ${ledger.chainId} up to row 1, its newest rows unsigned`);
  expect(signed.said).not.toContain("unsigned");
  for (const name of ["old-key", "new-key"])
    expect(await restored(join(folder, `${name}.backup`), callIds)).toMatchObject({
      code: 0,
      said: expect.stringMatching(new RegExp(`chain ${ledger.chainId} +intact over 1 rows`)),
    });
});

test("a backup skips unlogged tables, which a standby database does not have", async () => {
  await sql`INSERT INTO span_claims (tenant_id, trace_id, span_id, owner) VALUES ('default', 't', 's', gen_random_uuid())`.execute(
    database.db,
  );
  const file = join(temporaryDirectory(), "gateway.backup");
  expect(await backUp(file)).toMatchObject({ code: 0 });
  const { code, seen } = await restored(file, async ({ db }) => (await sql`SELECT FROM span_claims`.execute(db)).rows.length);
  expect([code, seen]).toEqual([0, 0]);
});
