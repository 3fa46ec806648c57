import { afterAll, beforeAll, expect, test } from "bun:test";
import { jsonLog } from "../../server/kernel/log.ts";
import { verifyChain } from "../../server/ledger/chains/chains.ts";
import { callRow, temporaryDirectory, testLedger } from "../../server/ledger/test-support.ts";
import { openDatabase } from "../../server/store/database.ts";
import { type DatabaseProxy, databaseProxy } from "../support/processes/database-proxy.ts";
import { testDatabase, type TestDatabase } from "../support/database.ts";
import { removeDirectory } from "../support/gateway.ts";
import { LONG_TEST_MS } from "../support/patience.ts";

/**
 * The connection breaks after the server received COMMIT and before it could confirm: the shipper does not know whether the rows are
 * stored.
 */
const ROUNDS = Number(process.env.COMMIT_CUTS ?? 50);

let database: TestDatabase;
let proxy: DatabaseProxy;

beforeAll(async () => {
  database = await testDatabase();
  proxy = await databaseProxy(database.url);
});
afterAll(async () => {
  await proxy.close();
  await database.close();
});

test(
  `${ROUNDS} connections cut after COMMIT was sent: no row doubled or lost, no chain position used twice, every total right`,
  async () => {
    const directory = temporaryDirectory();
    const connection = openDatabase(proxy.url, { log: jsonLog("error"), max: 4 });
    const ledger = await testLedger(connection.db, directory, { shipWaitMs: 1 });
    const ids: string[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      proxy.cutAfterCommit(1);
      const rows = Array.from({ length: 1 + (round % 7) }, () =>
        callRow({ tenant_id: "t", resource_group_id: "g", root_task_id: `run-${round % 5}` }),
      );
      ids.push(...rows.map((row) => row.id as string));
      await Promise.all(rows.map((row) => ledger.seal(row)));
      await ledger.shipped();
    }
    await ledger.close();
    await connection.close();

    const rows = await database.db.selectFrom("audit_rows").select(["id", "chain_seq"]).orderBy("chain_seq").execute();
    expect(proxy.cuts).toBe(ROUNDS);
    expect(rows.map((row) => row.id).toSorted()).toEqual(ids.toSorted());
    expect(rows.map((row) => row.chain_seq)).toEqual(rows.map((_, index) => index + 1));
    expect(await verifyChain(database.db, ledger.chainId)).toMatchObject({ verdict: "intact", findings: [] });
    const { requests } = await database.db
      .selectFrom("usage_hourly")
      .select(({ fn }) => fn.sum<number>("requests").as("requests"))
      .executeTakeFirstOrThrow();
    expect(Number(requests)).toBe(ids.length);
    console.log(`  ${proxy.cuts} cuts, ${ids.length} rows, 0 doubled, 0 lost`);
    await removeDirectory(directory);
  },
  LONG_TEST_MS + ROUNDS * 1_000,
);
