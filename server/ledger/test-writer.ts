import { writeSync } from "node:fs";
import { openDatabase } from "../store/database.ts";
import { callRow, recordedLog, testLedger } from "./test-support.ts";

/** Test support: a process that makes calls until it is killed, and prints which calls it began (`B id`) and answered (`A id`). */
const [url = "", directory = "", signingKey = ""] = process.argv.slice(2);
const connection = openDatabase(url, { log: recordedLog(), max: 2 });
const ledger = await testLedger(connection.db, directory, { signingKey, segmentBytes: 100_000 });

async function calls(): Promise<never> {
  for (;;) {
    const row = callRow();
    ledger.begin(row);
    writeSync(1, `B ${row.id}\n`);
    await new Promise(setImmediate);
    await ledger.seal(row, String(row.id).endsWith("0"));
    writeSync(1, `A ${row.id}\n`);
  }
}

await Promise.all(Array.from({ length: 8 }, calls));
