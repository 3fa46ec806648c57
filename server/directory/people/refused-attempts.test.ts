import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { testDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { RefusedAttempts } from "./refused-attempts.ts";

const MINUTE = 60_000;
let database: TestDatabase;
let now: number;
let attempts: RefusedAttempts;
let seen = 0;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());
beforeEach(() => {
  now = Date.parse("2026-11-21T10:00:00Z");
  attempts = new RefusedAttempts(database.db, { now: () => now, micros: () => now * 1000 });
});

function tries(clientIp: string | null, reason = "credential_missing", more: { id?: string; route?: string } = {}): void {
  attempts.note({
    actor: { id: more.id ?? null, username: null, role: null, clientIp, requestId: "r" },
    tenantId: more.id === undefined ? null : "acme",
    route: more.route ?? "POST /v1/admin/providers",
    reason,
  });
}

/** The entries since the last call. */
async function entries(which?: "all"): Promise<any[]> {
  await attempts.write(which);
  const rows = await database.db
    .selectFrom("admin_log")
    .select(["resource", "client_ip", "after", "chain_seq"])
    .where("chain_seq", ">", seen)
    .orderBy("chain_seq")
    .execute();
  seen = rows.at(-1)?.chain_seq ?? seen;
  return rows.map(({ resource, client_ip, after }) => ({ resource, client_ip, ...(after as object) }));
}

test("the first refused attempt is logged at once, those of the next ten minutes in one later entry", async () => {
  tries("1.1.1.1");
  expect(await entries()).toEqual([
    {
      resource: "POST /v1/admin/providers",
      client_ip: "1.1.1.1",
      reason: "credential_missing",
      attempts: 1,
      since: "2026-11-21T10:00:00.000Z",
    },
  ]);
  now += MINUTE;
  for (let i = 0; i < 1000; i++) tries("1.1.1.1");
  tries("1.1.1.1", "credential_missing", { route: "GET /v1/admin/llms" });
  expect(await entries()).toEqual([]);
  now += 9 * MINUTE;
  expect(await entries()).toEqual([
    {
      resource: "GET /v1/admin/llms",
      client_ip: "1.1.1.1",
      reason: "credential_missing",
      attempts: 1001,
      since: "2026-11-21T10:01:00.000Z",
    },
  ]);
  now += 10 * MINUTE;
  expect(await entries()).toEqual([]);
});

test("attempts are grouped by address or IPv6 network, reason and account", async () => {
  tries("1.1.1.1");
  tries("1.1.1.2");
  tries("1.1.1.1", "credential_expired");
  tries("1.1.1.1", "invalid_body", { id: "0b9f0a3e-0000-4000-8000-000000000001" });
  tries("1.1.1.9", "invalid_body", { id: "0b9f0a3e-0000-4000-8000-000000000001" });
  tries("2001:db8::1");
  tries("2001:db8::2");
  expect((await entries()).map(({ client_ip, reason, attempts: counted }) => [client_ip, reason, counted])).toEqual([
    ["1.1.1.1", "credential_missing", 1],
    ["1.1.1.2", "credential_missing", 1],
    ["1.1.1.1", "credential_expired", 1],
    ["1.1.1.9", "invalid_body", 2],
    ["2001:db8::2", "credential_missing", 2],
  ]);
});

test("attempts from very many addresses make few log entries, and every attempt is counted", async () => {
  for (let i = 0; i < 20_000; i++) tries(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
  const told = await entries();
  expect(told.length).toBe(501);
  expect(told.filter(({ client_ip }) => client_ip === null)).toMatchObject([{ attempts: 19_500 }]);
  expect(told.reduce((sum, entry) => sum + entry.attempts, 0)).toBe(20_000);
});

test("an address without attempts for ten minutes makes room for others", async () => {
  for (let i = 0; i < 500; i++) tries(`10.0.${i >> 8}.${i & 255}`);
  await entries();
  now += 11 * MINUTE;
  await entries();
  tries("1.1.1.1");
  expect((await entries()).map(({ client_ip }) => client_ip)).toEqual(["1.1.1.1"]);
});

test("a stop writes the pending attempts, and an unreachable database loses none", async () => {
  tries("1.1.1.1");
  await entries();
  tries("1.1.1.1");
  expect(await entries("all")).toMatchObject([{ attempts: 1 }]);

  const away = new RefusedAttempts(
    { isTransaction: false, transaction: () => ({ execute: async () => Promise.reject(new Error("away")) }) } as never,
    { now: () => now, micros: () => now * 1000 },
  );
  away.note({
    actor: { id: null, username: null, role: null, clientIp: "1.1.1.3", requestId: null },
    tenantId: null,
    route: "POST /x",
    reason: "r",
  });
  expect(away.write()).rejects.toThrow("away");
  expect(away.write()).rejects.toThrow("away");
});
