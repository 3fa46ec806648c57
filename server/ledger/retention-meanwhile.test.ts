import { afterAll, beforeAll, expect, test } from "bun:test";
import { verifyExport } from "@gatehouse/ledger-format/verify-export";
import { sql } from "kysely";
import { ulid as ulidAt } from "ulid";
import { testDatabase, type TestDatabase } from "../../tests/support/database.ts";
import { isoMicros, type Clock } from "../kernel/clock.ts";
import { exportChain } from "./chains/chain-export.ts";
import { verifyChain } from "./chains/chains.ts";
import { applyRetention } from "./retention.ts";
import { callRow, recordedLog, temporaryDirectory, testLedger } from "./test-support.ts";

/** Rows that are written or read while retention runs. */

let database: TestDatabase;
let at = Date.UTC(2026, 7, 1);
const clock: Clock = { now: () => at, micros: () => at * 1000 };

beforeAll(async () => {
  database = await testDatabase();
  for (const [id, bodyDays, logDays] of [
    ["short", 10, 20],
    ["long", 30, 60],
  ] as const) {
    const retention = { store_bodies: "full", body_days: bodyDays, log_days: logDays, run_days: 60 };
    await database.db
      .insertInto("tenants")
      .values({ id, name: id, data_retention: JSON.stringify(retention), default_judge_model_id: null } as never)
      .execute();
  }
});
afterAll(() => database.close());

const retain = () => applyRetention(database.db, clock, recordedLog());
const counted = async (where: string) =>
  (await sql<{ n: number }>`SELECT count(*) AS n FROM audit_rows WHERE ${sql.raw(where)}`.execute(database.db)).rows[0]?.n;

test("a verification that starts while months are dropped sees all or none of them, and reports nothing missing", async () => {
  at = Date.UTC(2026, 7, 2);
  await retain();
  const other = await testLedger(database.db, temporaryDirectory(), { clock, checkpointMs: 1_000_000 });
  for (let i = 0; i < 3; i++) await other.seal(callRow({ id: ulidAt(at), tenant_id: "long" }));
  await other.close();
  const head = await database.db.startTransaction().execute();
  await sql`SELECT FROM admin_log_head FOR UPDATE`.execute(head);
  const waiting = async (sessions: number): Promise<void> => {
    const count = async () =>
      (
        await sql<{
          n: number;
        }>`SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(database.db)
      ).rows[0]?.n;
    while ((await count()) !== sessions) await new Promise(setImmediate);
  };
  at = Date.UTC(2026, 10, 2);
  // The admin log is written last, when the months are about to be dropped.
  const dropped = retain();
  await waiting(1);
  const verified = verifyChain(database.db, other.chainId);
  const exported = Array.fromAsync(exportChain(database.db, other.chainId));
  await waiting(3);
  await head.rollback().execute();
  await dropped;
  expect(await verified).toMatchObject({ verdict: "intact", findings: [], pruned_through: 3 });
  expect(await verifyExport((await exported).map((line) => line.trimEnd()))).toMatchObject({ verdict: "intact", pruned_through: 3 });
});

test("a row that arrives after its retention has passed is stored without its expired fields", async () => {
  const own = await testLedger(database.db, temporaryDirectory(), { clock, checkpointMs: 1_000_000 });
  at = Date.UTC(2027, 0, 30);
  const arrived = async (day: number): Promise<string> => {
    const id = ulidAt(Date.UTC(2027, 0, day));
    await own.seal(callRow({ id, tenant_id: "short", timestamp: isoMicros(Date.UTC(2027, 0, day) * 1000) }));
    await own.shipped();
    return id;
  };
  const usage = async () =>
    (
      await sql<{
        calls: number;
      }>`SELECT sum(requests) AS calls FROM usage_hourly WHERE tenant_id = 'short' AND hour > '2027-01-01'`.execute(database.db)
    ).rows[0]?.calls;
  const [reduced] = [await arrived(5), await arrived(29)];
  await retain();
  const [late, inTime] = [await arrived(4), await arrived(28)];
  await own.close();
  expect(
    await counted(
      `id IN ('${reduced}', '${late}') AND client_ip IS NULL AND request_body_preview IS NULL AND bodies_pruned_at IS NOT NULL`,
    ),
  ).toBe(2);
  expect(await counted(`id = '${inTime}' AND client_ip IS NOT NULL`)).toBe(1);
  expect(await usage()).toBe(4);
  expect((await verifyChain(database.db, own.chainId)).verdict).toBe("intact");
});
