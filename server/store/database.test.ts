import { expect, test } from "bun:test";
import { jsonLog } from "../kernel/log.ts";
import { openDatabase } from "./database.ts";

test.each([
  ["postgres://gatehouse:hunter2@db.example:5433/audit?sslmode=verify-full", "postgres://db.example:5433/audit"],
  ["postgresql://gatehouse:hunter2@db.example/audit", "postgres://db.example:5432/audit"],
  [
    "postgres://gatehouse:hunter2@/audit?host=/cloudsql/project:region:instance",
    "PostgreSQL database audit on the socket in /cloudsql/project:region:instance",
  ],
  ["postgres:///audit?host=/run/postgresql&user=gatehouse&password=hunter2", "PostgreSQL database audit on the socket in /run/postgresql"],
])("%s is said without user and password", async (url, place) => {
  const connection = openDatabase(url, { log: jsonLog("error") });
  expect(connection.place).toBe(place);
  await connection.close();
});
