import { afterAll, beforeAll, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { testDatabase, type TestDatabase } from "../../tests/support/database.ts";
import { verifyChain } from "./chains/chains.ts";
import { SIGNING_KEY, temporaryDirectory, testLedger } from "./test-support.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

const WRITER = fileURLToPath(new URL("./test-writer.ts", import.meta.url));

/** Runs a writer until it has answered `answers` calls, then kills it. */
async function killedWriter(directory: string, answers: number, begun: Set<string>, answered: Set<string>): Promise<void> {
  const child = spawn(process.execPath, [WRITER, database.url, directory, SIGNING_KEY], { stdio: ["ignore", "pipe", "inherit"] });
  const closed = once(child, "close");
  let left = answers;
  for await (const line of createInterface({ input: child.stdout })) {
    const [kind, id = ""] = line.split(" ");
    if (id.length !== 26) continue;
    (kind === "A" ? answered : begun).add(id);
    if (kind === "A" && --left === 0) child.kill("SIGKILL");
  }
  await closed;
}

test("a process killed under load ten times neither loses nor duplicates a call", async () => {
  const directory = temporaryDirectory();
  const begun = new Set<string>();
  const answered = new Set<string>();
  for (let round = 0; round < 10; round++) await killedWriter(directory, 37 + round * 61, begun, answered);

  const ledger = await testLedger(database.db, directory, { signingKey: SIGNING_KEY });
  await ledger.shipped();
  await ledger.close();
  const rows = await database.db
    .selectFrom("audit_rows")
    .select(["id", "success", "error_type"])
    .where("chain_id", "=", ledger.chainId)
    .execute();
  const byId = new Map(rows.map((row) => [row.id as string, row]));
  expect(byId.size).toBe(rows.length);
  expect([...begun].filter((id) => !byId.has(id))).toEqual([]);
  expect([...answered].filter((id) => byId.get(id)?.success !== true)).toEqual([]);
  expect(rows.filter((row) => row.success === false).every((row) => row.error_type === "gateway_interrupted")).toBe(true);
  expect(answered.size).toBeGreaterThan(3_000);
  expect(await verifyChain(database.db, ledger.chainId)).toMatchObject({ verdict: "intact", findings: [], rows_checked: rows.length });
  const usage = await database.db
    .selectFrom("usage_hourly")
    .select(({ fn }) => fn.sum<number>("requests").as("requests"))
    .executeTakeFirstOrThrow();
  expect(Number(usage.requests)).toBe(rows.length);
});
