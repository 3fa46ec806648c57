import { expect, test } from "bun:test";
import { testDatabase } from "../../tests/support/database.ts";
import { databaseProxy } from "../../tests/support/processes/database-proxy.ts";
import { until } from "../../tests/support/until.ts";
import { jsonLog, type Log } from "../kernel/log.ts";
import { openDatabase } from "./database.ts";

test.each([
  ["postgres://gatehouse:hunter2@db.example:5433/audit?sslmode=verify-full", "postgres://db.example:5433/audit"],
  ["postgresql://gatehouse:hunter2@db.example/audit", "postgres://db.example:5432/audit"],
  [
    "postgres://gatehouse:hunter2@/audit?host=/cloudsql/project:region:instance",
    "PostgreSQL database audit on the socket in /cloudsql/project:region:instance",
  ],
  ["postgres:///audit?host=/run/postgresql&user=gatehouse&password=hunter2", "PostgreSQL database audit on the socket in /run/postgresql"],
])("%s: the database is named without user and password", async (url, place) => {
  const connection = openDatabase(url, { log: jsonLog("error") });
  expect(connection.place).toBe(place);
  await connection.close();
});

test("a connection ended by a stopping server is logged as a warning, unless it is being closed", async () => {
  const database = await testDatabase({ likeOthers: false });
  const proxy = await databaseProxy(database.url);
  const said: string[] = [];
  const say = (level: string) => (event: string) => void said.push(`${level} ${event}`);
  const log = { debug: say("debug"), info: say("info"), warn: say("warn"), error: say("error") } as unknown as Log;
  const lost = () =>
    until(
      async () => said.splice(0),
      (lines) => lines.some((line) => line.endsWith("database_connection_lost")),
    );
  const connection = openDatabase(proxy.url, { log });
  const ask = () => connection.db.selectFrom("tenants").select("id").execute();

  await ask();
  proxy.announceStop();
  expect(await lost()).toContain("warn database_connection_lost");
  await ask();
  await connection.close();
  expect(await lost()).toContain("debug database_connection_lost");
  await proxy.close();
  await database.close();
});
