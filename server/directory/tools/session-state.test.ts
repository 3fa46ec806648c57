import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { cutChannels, testDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { secretBox } from "../../kernel/secrets.ts";
import { type DatabaseConnection, openDatabase } from "../../store/database.ts";
import { forgetSessions } from "../../store/tools/tool-sessions.ts";
import { SessionState } from "./session-state.ts";

const log = { debug() {}, info() {}, warn() {}, error() {} };
const session = { tenantId: "t", token: "a session" };
let database: TestDatabase;
let connection: DatabaseConnection;
/** Two processes on one database. */
let one: SessionState;
let other: SessionState;
const cancelled: string[] = [];
const ended: string[] = [];

beforeAll(async () => {
  database = await testDatabase();
  connection = openDatabase(database.url, { log });
  await sql`INSERT INTO tenants (id, name, data_retention) VALUES ('t', 't', '{}'), ('u', 'u', '{}')`.execute(database.db);
  const parts = { connection, secrets: secretBox(Buffer.alloc(32, 1)), log };
  one = await SessionState.open({ ...parts, cancelled: () => undefined, ended: () => undefined });
  other = await SessionState.open({ ...parts, cancelled: (mark) => void cancelled.push(mark), ended: (name) => void ended.push(name) });
});
afterAll(async () => {
  await Promise.all([one.stop(), other.stop()]);
  await connection.close();
  await database.close();
});

const until = async (holds: () => boolean | Promise<boolean>) => {
  while (!(await holds())) await Bun.sleep(5);
};

test("session changes at one process reach the other, before or after it follows, and are notified once", async () => {
  await one.subscribe(session, "test://a");
  let told = 0;
  const following = await other.follow(session, () => told++);
  expect(following.uris()).toEqual(["test://a"]);
  const before = told;
  await one.subscribe(session, "test://b");
  await until(() => told > before);
  expect(following.uris()).toEqual(["test://a", "test://b"]);
  // Setting a log level does not change subscriptions, nor does repeating one.
  await one.setLogLevel(session, "error");
  await one.subscribe(session, "test://a");
  await until(async () => (await other.statusOf(session)).level === "error");
  await one.unsubscribe(session, "test://a");
  await until(() => following.uris().length === 1);
  expect(told).toBe(before + 2);
  // The process that set it sees it immediately.
  await other.setLogLevel(session, "debug");
  expect((await other.statusOf(session)).level).toBe("debug");
  await one.tellCancelled("mark 1");
  await until(() => cancelled.length > 0);
  expect(cancelled).toEqual(["mark 1"]);
  following.stop();
});

test("an ended session, another session and another tenant see nothing of a session's subscriptions", async () => {
  const ending = await other.follow(session, () => undefined);
  await one.end(session);
  expect(await one.statusOf(session)).toMatchObject({ level: null, ended: true });
  await until(() => ending.ended());
  expect((await other.statusOf(session)).ended).toBe(true);
  ending.stop();
  await one.subscribe(session, "test://mine");
  for (const stranger of [
    { ...session, token: "another" },
    { ...session, tenantId: "u" },
  ]) {
    const following = await other.follow(stranger, () => undefined);
    expect([stranger, following.uris()]).toEqual([stranger, []]);
    following.stop();
  }
});

test("a session without stored state is ended at every process once its client ends it", async () => {
  const silent = { tenantId: "t", token: "silent" };
  other.sessionStarted(silent);
  expect(await other.statusOf(silent)).toMatchObject({ level: null, ended: false });
  await one.end(silent);
  await until(async () => (await other.statusOf(silent)).ended);
  expect(ended).toContain(one.nameOf(silent));
});

test("changes missed by a lost database connection are read when it is back", async () => {
  const lost = { tenantId: "t", token: "lost" };
  const following = await other.follow(lost, () => undefined);
  await cutChannels(database.db);
  await one.subscribe(lost, "test://meanwhile");
  await until(() => following.uris().length === 1);
  following.stop();
});

test("a session subscribes to at most 1,000 resources, and is deleted after a week without use", async () => {
  const many = { tenantId: "t", token: "many" };
  await one.subscribe(many, "test://0");
  await sql`UPDATE tool_sessions SET uris = (SELECT array_agg('test://' || i) FROM generate_series(0, 999) i) WHERE uris = '{test://0}'`.execute(
    database.db,
  );
  expect([await one.subscribe(many, "test://1000"), await one.subscribe(many, "test://999")]).toEqual([false, true]);
  await one.unsubscribe(many, "test://999");
  expect(await one.subscribe(many, "test://1000")).toBe(true);
  const count = async () => (await database.db.selectFrom("tool_sessions").select("session").execute()).length;
  const before = await count();
  await forgetSessions(database.db);
  expect(await count()).toBe(before);
  await sql`UPDATE tool_sessions SET used_at = now() - interval '8 days' WHERE cardinality(uris) = 1000`.execute(database.db);
  await forgetSessions(database.db);
  expect(await count()).toBe(before - 1);
});
