import { afterAll, beforeAll, expect, test } from "bun:test";
import { hostname } from "node:os";
import { testDatabase, type TestDatabase } from "../../tests/support/database.ts";
import { verifyChain } from "./chains/chains.ts";
import { callRow, copyAsCrashed, temporaryDirectory, testLedger } from "./test-support.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

test("rows of a journal are shipped even if a copy of it was shipped meanwhile, beside the copy's rows", async () => {
  const directory = temporaryDirectory();
  const first = await testLedger(database.db, directory);
  await first.seal(callRow());
  await first.close();
  const copied = copyAsCrashed(directory);
  // Its rows wait in its journal: by the time they could be shipped, the copy has its chain.
  const ship = () => Promise.reject(new Error("connection refused"));
  const mine = await testLedger(database.db, directory, { ship, closeMs: 1 });
  const copy = await testLedger(database.db, copied);
  const rows = Array.from({ length: 4 }, () => callRow());
  await Promise.all(rows.map((row) => mine.seal(row)));
  await copy.seal(callRow());
  await mine.close();
  await copy.close();

  const again = await testLedger(database.db, directory);
  await again.shipped();
  await again.close();
  const there = await database.db.selectFrom("audit_rows").select("id").where("chain_id", "=", again.chainId).execute();
  const ids = new Set(there.map(({ id }) => id as string | undefined));
  expect(rows.map(({ id }) => ids.has(id as string))).toEqual([true, true, true, true]);
  expect((await verifyChain(database.db, again.chainId)).verdict).toBe("broken_link");
});

test("a journal of which a copy wrote more rows meanwhile is refused with where they were written, until that gateway is stopped", async () => {
  const directory = temporaryDirectory();
  const first = await testLedger(database.db, directory);
  await first.seal(callRow());
  await first.close();
  const copy = await testLedger(database.db, copyAsCrashed(directory), { checkpointMs: 1_000_000 });
  for (let i = 0; i < 3; i++) await copy.seal(callRow());
  await copy.shipped();

  const refused = (await testLedger(database.db, directory).catch((error: unknown) => error)) as Error;
  expect(refused.message).toContain(`ends at row 1 of chain ${copy.chainId}, and the database has it up to row 4`);
  expect(refused.message).toContain(`a gateway on ${hostname()} continued the chain from a copy of this journal directory`);
  expect(refused.message).not.toContain("\n");

  await copy.close();
  const again = await testLedger(database.db, directory);
  await again.seal(callRow());
  await again.close();
  expect(await verifyChain(database.db, again.chainId)).toMatchObject({ verdict: "intact", rows_checked: 5 });
});
