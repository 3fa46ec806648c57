import { expect, test } from "bun:test";
import { sql } from "kysely";
import { testDatabase } from "../../../tests/support/database.ts";
import { databaseProxy } from "../../../tests/support/processes/database-proxy.ts";
import { until } from "../../../tests/support/until.ts";
import { isDatabaseAway } from "../../kernel/database-away.ts";
import { jsonLog } from "../../kernel/log.ts";
import { Channel } from "./channel.ts";
import { openDatabase } from "../database.ts";

const log = jsonLog("error");

async function throughProxy() {
  const database = await testDatabase();
  const proxy = await databaseProxy(database.url);
  const connection = openDatabase(proxy.url, { log, max: 3 });
  return {
    database,
    proxy,
    connection,
    async [Symbol.asyncDispose]() {
      await proxy.close();
      await connection.close();
      await database.close();
    },
  };
}

const one = () => sql<{ one: number }>`SELECT 1 AS one`;

test("statements on silently dead connections fail, and the next ones use new connections", async () => {
  await using all = await throughProxy();
  const { proxy, connection } = all;
  const idle = await Promise.all([1, 2, 3].map(() => one().execute(connection.db)));
  expect(idle.length).toBe(3);
  proxy.silenceThoseThere();
  const refused = await one()
    .execute(connection.db)
    .catch((error: Error) => error);
  expect([refused instanceof Error, isDatabaseAway(refused)]).toEqual([true, true]);
  expect(await Promise.all([1, 2, 3].map(() => one().execute(connection.db)))).toMatchObject([1, 2, 3].map(() => ({ rows: [{ one: 1 }] })));
});

test("a slow statement keeps running as long as the server is working on it", async () => {
  await using all = await throughProxy();
  const { database, proxy, connection } = all;
  let late: Promise<unknown> = Promise.resolve();
  await database.db.transaction().execute(async (holder) => {
    await sql`SELECT pg_advisory_xact_lock(11)`.execute(holder);
    late = sql`SELECT pg_advisory_lock(11)`.execute(connection.db);
    await until(
      () => sql`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`.execute(holder),
      ({ rows }) => rows.length > 0,
    );
    // The server is asked about the statement on a separate connection.
    const made = proxy.made;
    await until(
      () => Promise.resolve(proxy.made),
      (count) => count > made,
    );
    expect(await Promise.race([late.then(() => "ended"), Bun.sleep(100).then(() => "waits")])).toBe("waits");
  });
  await late;
});

test("a notification channel listens again after its connection has silently died", async () => {
  await using all = await throughProxy();
  const { database, proxy, connection } = all;
  const heard: string[] = [];
  const channel = new Channel(
    connection,
    "news",
    { received: (payload) => void heard.push(payload), connected: (again) => void heard.push(again ? "listens again" : "listens") },
    log,
  );
  await channel.start();
  proxy.silenceThoseThere();
  await until(
    () => Promise.resolve(heard),
    () => heard.includes("listens again"),
  );
  await sql`SELECT pg_notify('news', 'told')`.execute(database.db);
  await until(
    () => Promise.resolve(heard),
    () => heard.includes("told"),
  );
  expect(heard).toEqual(["listens", "listens again", "told"]);
  await channel.stop();
});
