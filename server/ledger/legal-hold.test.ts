import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { ulid as ulidAt } from "ulid";
import { testDatabase, type TestDatabase } from "../../tests/support/database.ts";
import { isoMicros, type Clock } from "../kernel/clock.ts";
import { sweepFiles } from "../store/files/files.ts";
import { verifyChain } from "./chains/chains.ts";
import type { Ledger } from "./ledger.ts";
import { applyRetention } from "./retention.ts";
import { callRow, recordedLog, temporaryDirectory, testLedger } from "./test-support.ts";

let database: TestDatabase;
let ledger: Ledger;
let at = Date.UTC(2026, 0, 20);
const clock: Clock = { now: () => at, micros: () => at * 1000 };

beforeAll(async () => {
  database = await testDatabase();
  const data_retention = JSON.stringify({ store_bodies: "full", body_days: 10, log_days: 20, run_days: 20, file_days: 1 });
  for (const [id, legal_hold] of [
    ["held", "case 17"],
    ["free", null],
  ] as const)
    await database.db
      .insertInto("tenants")
      .values({ id, name: id, data_retention, legal_hold, default_judge_model_id: null } as never)
      .execute();
  ledger = await testLedger(database.db, temporaryDirectory(), { clock, checkpointMs: 1_000_000 });
});
afterAll(async () => {
  await ledger.close();
  await database.close();
});

const retain = () => applyRetention(database.db, clock, recordedLog());
const hold = (reason: string | null) => database.db.updateTable("tenants").set({ legal_hold: reason }).where("id", "=", "held").execute();
/** How many rows each tenant has, with bodies and with an address. */
async function kept(tenantId: string): Promise<[number, number, number]> {
  const { rows } = await sql<{ all: number; bodies: number; addresses: number }>`
    SELECT count(*) AS all, count(request_body_preview) AS bodies, count(client_ip) AS addresses FROM audit_rows WHERE tenant_id = ${tenantId}`.execute(
    database.db,
  );
  const [{ all, bodies, addresses } = { all: 0, bodies: 0, addresses: 0 }] = rows;
  return [Number(all), Number(bodies), Number(addresses)];
}

test("under a legal hold a tenant keeps its rows, bodies and runs, until the hold ends", async () => {
  await retain();
  for (let i = 0; i < 1_000; i++) {
    const id = ulidAt(at);
    await ledger.seal(
      callRow({ id, timestamp: isoMicros(at * 1000), tenant_id: i % 2 === 0 ? "held" : "free", root_task_id: id, client_ip: "10.0.0.1" }),
    );
    at += 1_000;
  }
  await ledger.shipped();
  expect(await kept("held")).toEqual([500, 500, 500]);

  at = Date.UTC(2026, 1, 15);
  await retain();
  expect([await kept("held"), await kept("free")]).toEqual([
    [500, 500, 500],
    [500, 0, 0],
  ]);

  // January is past every tenant's retention, but the month holds rows of the tenant under the hold.
  at = Date.UTC(2026, 3, 2);
  await retain();
  expect([await kept("held"), await kept("free")]).toEqual([
    [500, 500, 500],
    [500, 0, 0],
  ]);
  expect((await verifyChain(database.db, ledger.chainId)).pruned_through).toBeNull();

  await hold(null);
  await retain();
  expect([await kept("held"), await kept("free")]).toEqual([
    [0, 0, 0],
    [0, 0, 0],
  ]);
});

test("a hold that is set while retention runs ends it before the next batch of rows", async () => {
  at = Date.UTC(2026, 4, 1);
  await retain();
  await ledger.seal(callRow({ id: ulidAt(at), timestamp: isoMicros(at * 1000), tenant_id: "held", request_body_preview: "body" }));
  await ledger.shipped();
  await sql`INSERT INTO audit_rows
    SELECT (jsonb_populate_record(r, jsonb_build_object('id', left(r.id, 10) || lpad(n::text, 16, '0'), 'chain_id', 'of others', 'chain_seq', n))).*
      FROM audit_rows r, generate_series(1, 2099) n WHERE r.tenant_id = 'held'`.execute(database.db);
  at = Date.UTC(2026, 4, 25);
  let batches = 0;
  const meddled = database.db.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      if (result.numAffectedRows === 2_000n && ++batches === 1) await hold("case 19");
      return result;
    },
  });
  await applyRetention(meddled, clock, recordedLog());
  expect(await kept("held")).toEqual([2_100, 100, 2_100]);
  await hold(null);
  await retain();
  expect(await kept("held")).toEqual([2_100, 0, 0]);
});

test("under a legal hold expired files stay stored", async () => {
  await hold("case 18");
  const expires_at = new Date(at - 1_000);
  for (const tenant_id of ["held", "free"]) {
    const resource_group_id = crypto.randomUUID();
    await database.db
      .insertInto("resource_groups")
      .values({ id: resource_group_id, tenant_id, name: "team" } as never)
      .execute();
    await database.db
      .insertInto("files")
      .values({
        id: `file-${tenant_id}`,
        tenant_id,
        resource_group_id,
        kind: "document",
        mime_type: "text/plain",
        size_bytes: 1,
        content_hash: "-",
        created_at: expires_at,
        expires_at,
      } as never)
      .execute();
  }
  const deleted = async () =>
    (await database.db.selectFrom("files").select("id").where("deleted_at", "is not", null).execute()).map(({ id }) => id);
  await sweepFiles(database.db, new Date(at));
  expect(await deleted()).toEqual(["file-free"]);
  await hold(null);
  await sweepFiles(database.db, new Date(at));
  expect((await deleted()).toSorted()).toEqual(["file-free", "file-held"]);
});
