import { expect, test } from "bun:test";
import { testDatabase } from "../../tests/support/database.ts";
import { until } from "../../tests/support/until.ts";
import { jsonLog } from "../kernel/log.ts";
import { recordChanges } from "../store/records/record-changes.ts";
import { openDatabase } from "../store/database.ts";
import { ConfigFollower, type ConfigListener } from "./config-follower.ts";

/** Consecutive changes by others. */
const ENOUGH = 100;

test("changes are still followed after the database lost some changes that were already read", async () => {
  const database = await testDatabase();
  const connection = openDatabase(database.url, { log: jsonLog("error") });
  const change = (topic: "policy" | "api_key", ref?: string) =>
    database.db.transaction().execute((trx) => recordChanges(trx, [{ tenant_id: "t", topic, ...(ref === undefined ? {} : { ref }) }]));
  // In one transaction, so that no read happens between the loss and the new changes.
  const loseAllBut = (version: number, hashes: readonly string[]) =>
    database.db.transaction().execute(async (trx) => {
      await trx.deleteFrom("config_changes").where("version", ">", version).execute();
      await trx.updateTable("config_version").set({ version }).execute();
      const changes = hashes.map((ref) => ({ tenant_id: "t", topic: "api_key" as const, ref }));
      await recordChanges(trx, changes);
    });
  const seen: string[] = [];
  const listener: ConfigListener = {
    async tenantChanged() {},
    credentialChanged: (hash) => void seen.push(hash),
    userChanged() {},
    async everythingChanged() {
      seen.push("everything");
    },
  };
  const follower = new ConfigFollower(connection, listener, { ...jsonLog("error"), error: (event) => void seen.push(event) });
  for (let made = 0; made < 3; made++) await change("policy");
  await follower.start();
  try {
    await change("api_key", "before");
    await follower.caughtUp();
    await loseAllBut(2, ["fewer than were lost"]);
    await follower.caughtUp();
    await change("api_key", "next");
    await follower.caughtUp();
    await loseAllBut(2, ["as many", "as were lost"]);
    await follower.caughtUp();
    await change("api_key", "last");
    await follower.caughtUp();
    const setBack = ["config_changes_set_back", "everything"];
    expect(seen).toEqual(["before", ...setBack, "next", ...setBack, "last"]);
  } finally {
    await follower.stop();
    await connection.close();
    await database.close();
  }
});

test("waiting for a change ends once it is in force, even if other changes keep arriving", async () => {
  const database = await testDatabase();
  const connection = openDatabase(database.url, { log: jsonLog("error") });
  const change = (tenantId: string) =>
    database.db.transaction().execute((trx) => recordChanges(trx, [{ tenant_id: tenantId, topic: "policy" }]));
  const renewed: string[] = [];
  // Each time a change takes effect, the next one is already there.
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
    // Nothing is read any more, so nobody must be left waiting.
    await Promise.all([follower.caughtUp(), follower.caughtUp()]);
    await connection.close();
    await database.close();
  }
});

test("a tenant whose snapshot is slow or fails to build does not delay changes of other tenants", async () => {
  const database = await testDatabase();
  const connection = openDatabase(database.url, { log: jsonLog("error") });
  const change = (tenant_id: string, topic: "policy" | "api_key", ref?: string) =>
    database.db.transaction().execute((trx) => recordChanges(trx, [{ tenant_id, topic, ...(ref === undefined ? {} : { ref }) }]));
  const tried: string[] = [];
  const revoked: string[] = [];
  let release: () => void = () => undefined;
  const slow = new Promise<void>((resolve) => (release = resolve));
  let broken = true;
  const listener: ConfigListener = {
    async tenantChanged(tenantId) {
      tried.push(tenantId);
      if (tenantId === "slow") await slow;
      if (tenantId === "broken" && broken) throw new Error("it cannot be read");
    },
    credentialChanged: (hash) => void revoked.push(hash),
    userChanged() {},
    async everythingChanged() {},
  };
  const follower = new ConfigFollower(connection, listener, jsonLog("error"));
  const times = (tenantId: string) => tried.filter((one) => one === tenantId).length;
  await follower.start();
  try {
    await change("slow", "policy");
    await change("broken", "policy");
    await until(
      async () => times("broken"),
      (count) => count >= 2,
    );
    await change("other", "api_key", "revoked");
    await change("other", "policy");
    await until(
      async () => [times("other"), ...revoked],
      (seen) => seen.length === 2 && seen[0] === 1,
    );
    expect(times("slow")).toBe(1);
    // Changes that arrived while it was being applied are applied afterwards, once.
    await change("slow", "policy");
    await change("slow", "policy");
    await change("other", "api_key", "later");
    await until(
      async () => revoked,
      (seen) => seen.includes("later"),
    );
    const caught = follower.caughtUp();
    release();
    await caught;
    expect(times("slow")).toBe(2);
    broken = false;
    const failed = times("broken");
    await until(
      async () => times("broken"),
      (count) => count > failed,
    );
    await follower.caughtUp();
    expect(follower.knowledge("broken")).toBe("live");
  } finally {
    await follower.stop();
    await connection.close();
    await database.close();
  }
});

test("waiting for a change does not wait for a tenant whose snapshot failed to build earlier", async () => {
  const database = await testDatabase();
  const connection = openDatabase(database.url, { log: jsonLog("error") });
  const change = (tenantId: string) =>
    database.db.transaction().execute((trx) => recordChanges(trx, [{ tenant_id: tenantId, topic: "policy" }]));
  const tried: string[] = [];
  const failed: unknown[] = [];
  const over = Promise.withResolvers<void>();
  const listener: ConfigListener = {
    async tenantChanged(tenantId) {
      tried.push(tenantId);
      if (tenantId !== "broken") return;
      if (tried.filter((one) => one === "broken").length > 1) await over.promise;
      throw new Error("it cannot be read");
    },
    credentialChanged() {},
    userChanged() {},
    async everythingChanged() {},
  };
  const log = { ...jsonLog("error"), warn: (_event: string, details?: object) => void failed.push(details) };
  const follower = new ConfigFollower(connection, listener, log);
  await follower.start();
  try {
    await change("broken");
    await until(
      () => failed.length,
      (count) => count === 1,
    );
    await change("other");
    await follower.caughtUp();
    expect(tried).toContain("other");
    await until(
      () => tried.filter((one) => one === "broken").length,
      (count) => count === 2,
    );
    await follower.caughtUp();
    // Its own change, made after the failure, is still waited for.
    await change("broken");
    let isTold = false;
    const told = follower.caughtUp().then(() => void (isTold = true));
    await change("other");
    await until(
      () => tried.filter((one) => one === "other").length,
      (count) => count === 2,
    );
    expect(isTold).toBe(false);
    over.resolve();
    await told;
    expect(tried.filter((one) => one === "broken")).toHaveLength(3);
  } finally {
    over.resolve();
    await follower.stop();
    await connection.close();
    await database.close();
  }
});
