import { expect, test } from "bun:test";
import { sql } from "kysely";
import { testDatabase } from "../../../tests/support/database.ts";
import { isDatabaseAway } from "../../kernel/database-away.ts";
import { jsonLog } from "../../kernel/log.ts";
import { callRow, temporaryDirectory, testLedger } from "../../ledger/test-support.ts";
import { openDatabase } from "../database.ts";
import { boundedAnswer, databaseFailure, databaseRefusal } from "./database-state.ts";

test("an unresponsive database is reported within the time limit, with one query shared by all callers", async () => {
  const questions: ((answer: string | null) => void)[] = [];
  const answer = boundedAnswer(() => new Promise((resolve) => questions.push(resolve)), 10);
  const silent = "the database does not answer in time";
  expect(await Promise.all([answer(), answer()])).toEqual([silent, silent]);
  expect([await answer(), questions.length]).toEqual([silent, 1]);
  const late = answer();
  questions[0]?.(null);
  expect(await late).toBeNull();
  const next = answer();
  questions[1]?.("the database does not answer: gone");
  expect([await next, questions.length]).toEqual(["the database does not answer: gone", 2]);
});

test("a read-only server counts as unreachable, and rows are shipped over a new connection to a writable one", async () => {
  const database = await testDatabase();
  const { db, close } = openDatabase(database.url, { log: jsonLog("error"), max: 1 });
  const ledger = await testLedger(db, temporaryDirectory());
  expect(await databaseFailure(db)).toBeNull();
  await sql`SET default_transaction_read_only = on`.execute(db);
  expect(await databaseFailure(db)).toBe("the database takes no writes");
  expect(isDatabaseAway(await sql`UPDATE config_version SET version = version`.execute(db).catch((error: unknown) => error))).toBe(true);
  await ledger.seal(callRow());
  await ledger.shipped();
  expect(await databaseFailure(db)).toBeNull();
  await ledger.close();
  await close();
  await database.close();
});

test("an untrusted server certificate is reported with what to do about it", () => {
  const refused = (message: string, code: string) => databaseRefusal(Object.assign(new Error(message), { code }));
  expect(refused("certificate has expired", "CERT_HAS_EXPIRED")).toBe(
    "certificate has expired (give the server a certificate that has not ended)",
  );
  expect(refused("unable to verify the first certificate", "UNABLE_TO_VERIFY_LEAF_SIGNATURE")).toContain("sslrootcert=FILE");
});
