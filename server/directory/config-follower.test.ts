import { expect, test } from "bun:test";
import { testDatabase } from "../../tests/support/database.ts";
import { jsonLog } from "../kernel/log.ts";
import { recordChanges } from "../store/record-changes.ts";
import { openDatabase } from "../store/database.ts";
import { ConfigFollower, type ConfigListener } from "./config-follower.ts";

/** Changes of others, one behind the other. */
const ENOUGH = 100;

test("whoever waits for a change is told once it is in force, although others never stop changing things", async () => {
  const database = await testDatabase();
  const connection = openDatabase(database.url, { log: jsonLog("error") });
  const change = (tenantId: string) =>
    database.db.transaction().execute((trx) => recordChanges(trx, [{ tenant_id: tenantId, topic: "policy" }]));
  const renewed: string[] = [];
  // Whenever one change is in force, the next is there already.
  const listener: ConfigListener = {
    async tenantChanged(tenantId) {
      renewed.push(tenantId);
      if (renewed.length < ENOUGH) await change("busy");
    },
    credentialChanged() {},
    userChanged() {},
    async everythingChanged() {},
  };
  const follower = new ConfigFollower(connection, listener, jsonLog("error"));
  await follower.start();
  try {
    await change("busy");
    for (const tenantId of ["first", "second"]) {
      await change(tenantId);
      await follower.caughtUp();
      expect(renewed).toContain(tenantId);
    }
    expect(renewed.length).toBeLessThan(ENOUGH);
  } finally {
    await follower.stop();
    // Nothing is read any more, so nobody is left waiting for it.
    await Promise.all([follower.caughtUp(), follower.caughtUp()]);
    await connection.close();
    await database.close();
  }
});
