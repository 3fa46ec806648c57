import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { sql } from "kysely";
import { testDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { until } from "../../../tests/support/until.ts";
import { systemClock } from "../../kernel/clock.ts";
import { type ChainVerification, verifyChain } from "../../ledger/chains/chains.ts";
import { callRow, temporaryDirectory, testLedger } from "../../ledger/test-support.ts";
import { chainFaults } from "../../store/ledger/chain-faults.ts";
import { type Actor, type Directory, write } from "../writes/write.ts";
import { faultInWords, keepVerdict } from "./chain-verdicts.ts";

const NOBODY: Actor = { id: null, username: null, role: null, clientIp: null, requestId: null };

let database: TestDatabase;
let chain: string;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

beforeEach(async () => {
  const ledger = await testLedger(database.db, temporaryDirectory());
  chain = ledger.chainId;
  for (let seq = 1; seq <= 10; seq++) await ledger.seal(callRow());
  await ledger.close();
});
afterEach(() => sql`TRUNCATE audit_rows, audit_chains, audit_checkpoints, chain_faults, chain_fault_findings`.execute(database.db));

const edit = (seq: number, change: string) =>
  sql`UPDATE audit_rows SET ${sql.raw(change)} WHERE chain_id = ${chain} AND chain_seq = ${seq}`.execute(database.db);
const alter = (seq: number) => edit(seq, "http_status_code = http_status_code + 1");
const restore = (seq: number) => edit(seq, "http_status_code = http_status_code - 1");

/** A fresh verification, as of the moment it is recorded. */
const verified = (fromSeq?: number, toSeq?: number) => verifyChain(database.db, chain, { fromSeq, toSeq });

/** `meanwhile` runs between reading the known faults and changing them. */
async function keep(verification: ChainVerification, isWhole = true, meanwhile = async () => {}): Promise<void> {
  const { db } = database;
  const directory = { db, clock: systemClock() } as Directory;
  await keepVerdict(directory, verification, isWhole, async (work) => {
    await meanwhile();
    await write(directory, NOBODY, work);
  });
}

/** The faults reported to everything that relies on the chain. */
const known = async () => (await chainFaults(database.db, null)).map((fault) => faultInWords(fault).replace(/ on .*/, ""));

async function namesFound(): Promise<number> {
  const { rows } = await sql<{ n: number }>`SELECT cardinality(findings) AS n FROM chain_fault_findings`.execute(database.db);
  return rows[0]?.n ?? 0;
}

const altered = () => [`Chain ${chain} was verified as altered`];

test("a verification begun before an alteration does not clear a fault found after it, even if it ends later", async () => {
  const before = await verified();
  await alter(4);
  await keep(await verified());
  expect(before.verdict).toBe("intact");
  await keep(before);
  expect(await known()).toEqual(altered());

  await restore(4);
  await keep(await verified());
  expect(await known()).toEqual([]);
});

test("a verification begun between two findings of the same fault does not clear the second finding", async () => {
  await alter(4);
  await keep(await verified());
  await restore(4);
  const between = await verified();
  await alter(4);
  await keep(await verified());
  await keep(between);
  expect(await known()).toEqual(altered());
  const { rows } = await sql`SELECT FROM admin_log WHERE resource_id = ${chain}`.execute(database.db);
  expect(rows).toHaveLength(1);

  await restore(4);
  await keep(await verified());
  expect(await known()).toEqual([]);
});

test("a verification does not clear a fault found after it began, although an older one recorded the same fault", async () => {
  await alter(4);
  const earlier = await verified();
  await restore(4);
  const between = await verified();
  await alter(4);
  await keep(await verified(), true, () => keep(earlier));
  await keep(between);
  expect(await known()).toEqual(altered());
});

test("a verification reads the chain as of its as_of time, even if it had to wait for a lock", async () => {
  const holder = await database.db.startTransaction().execute();
  await sql`LOCK TABLE audit_rows IN ACCESS EXCLUSIVE MODE`.execute(holder);
  const waiting = verified();
  await until(
    async () => (await sql`SELECT FROM pg_locks WHERE NOT granted AND relation = 'audit_rows'::regclass`.execute(database.db)).rows.length,
    (waiters) => waiters === 1,
  );
  const { rows } = await sql<{ at: Date }>`SELECT clock_timestamp() AS at`.execute(database.db);
  await holder.commit().execute();
  expect(new Date((await waiting).as_of).getTime()).toBeGreaterThanOrEqual(rows[0]?.at.getTime() ?? Number.NaN);
});

test("an older verification with fewer findings adds its findings to those of a later one", async () => {
  await alter(4);
  const before = await verified();
  await alter(7);
  await keep(await verified());
  await keep(before);
  expect(await known()).toEqual(altered());
  expect(await namesFound()).toBe(2);
});

test("a fault in one part of a chain does not replace a worse one in another part, but replaces a lesser one", async () => {
  await alter(4);
  await keep(await verified());
  await sql`DELETE FROM audit_rows WHERE chain_id = ${chain} AND chain_seq = 8`.execute(database.db);
  const part = await verified(6, 9);
  expect(part.verdict).toBe("missing");
  await keep(part, false);
  expect(await known()).toEqual(altered());
  expect(await namesFound()).toBe(2);

  await restore(4);
  await keep(await verified());
  expect(await known()).toEqual([`Chain ${chain} was verified as missing`]);
  await alter(4);
  await keep(await verified(1, 5), false);
  expect(await known()).toEqual(altered());
});
