import { afterAll, beforeAll, expect, test } from "bun:test";
import { verifyExport } from "@gatehouse/ledger-format/verify-export";
import { sql } from "kysely";
import { ulid as ulidAt } from "ulid";
import { testDatabase, type TestDatabase } from "../../tests/support/database.ts";
import { isoMicros, type Clock } from "../kernel/clock.ts";
import { exportChain } from "./chains/chain-export.ts";
import { verifyChain } from "./chains/chains.ts";
import type { Ledger } from "./ledger.ts";
import { putFeedback } from "../store/runs/run-feedback.ts";
import { recordDeletedTenant } from "../store/tenants/deleted-tenants.ts";
import { applyRetention } from "./retention.ts";
import { callRow, recordedLog, temporaryDirectory, testLedger } from "./test-support.ts";

let database: TestDatabase;
let ledger: Ledger;
let at = Date.UTC(2026, 0, 20);
const clock: Clock = { now: () => at, micros: () => at * 1000 };
const DAY = 86_400_000;

const people = { short: crypto.randomUUID(), long: crypto.randomUUID() };

beforeAll(async () => {
  database = await testDatabase();
  for (const [id, bodyDays, logDays] of [
    ["short", 10, 20],
    ["long", 30, 60],
  ] as const) {
    const retention = { store_bodies: "full", body_days: bodyDays, log_days: logDays, run_days: 60 };
    await database.db
      .insertInto("tenants")
      .values({ id, name: id, data_retention: JSON.stringify(retention), default_judge_model_id: null } as never)
      .execute();
    await database.db.insertInto("end_users").values({ id: people[id], tenant_id: id, username: "person", password_hash: "-" }).execute();
  }
  ledger = await testLedger(database.db, temporaryDirectory(), { clock, checkpointMs: 1_000_000 });
});
afterAll(async () => {
  await ledger.close();
  await database.close();
});

/** Seals a call that arrived at the given time, which decides its month. */
async function call(arrived: number, fields: object = {}): Promise<string> {
  const id = ulidAt(arrived);
  await ledger.seal(callRow({ id, timestamp: isoMicros(arrived * 1000), tenant_id: "long", root_task_id: id, ...fields }));
  return id;
}

async function month(start: number, calls: number): Promise<void> {
  for (let i = 0; i < calls; i++) {
    at = start + i * 60_000;
    await call(at, i % 2 === 0 ? {} : { tenant_id: "short" });
  }
}

const retain = () => applyRetention(database.db, clock, recordedLog());
const verify = () => verifyChain(database.db, ledger.chainId);
const counted = async (where: string) =>
  (await sql<{ n: number }>`SELECT count(*) AS n FROM audit_rows WHERE ${sql.raw(where)}`.execute(database.db)).rows[0]?.n;

test("ended approvals lose their arguments and are later deleted; open ones stay unchanged", async () => {
  at = Date.UTC(2026, 0, 1);
  const given = '{"to":"somebody"}';
  const asked = async (id: string, tenantId: string, settled: object) =>
    database.db
      .insertInto("approvals")
      .values({
        id,
        tenant_id: tenantId,
        server_config_id: null,
        server_id: "mcp-1",
        server_name: "s",
        capability_type: "tool",
        capability_name: "t",
        requester_type: "api_key",
        requester_id: "k",
        requester_display: "k",
        requester_group_id: crypto.randomUUID(),
        call_arguments: given,
        arguments_digest: id,
        request_metadata: JSON.stringify({ client_ip: "192.0.2.1" }),
        timeout_seconds: 900,
        expires_at: new Date(at),
        token_nonce: null,
        resolved_by: null,
        resolution_note: null,
        consumed_by_call: null,
        created_at: new Date(at),
        ...settled,
      })
      .execute();
  const [used, rejected, pending, unused, kept] = Array.from({ length: 5 }, () => crypto.randomUUID()) as [
    string,
    string,
    string,
    string,
    string,
  ];
  await asked(used, "short", { status: "approved", consumed_at: new Date(at) });
  await asked(rejected, "short", { status: "rejected" });
  await asked(pending, "short", { status: "pending" });
  await asked(unused, "short", { status: "approved" });
  await asked(kept, "long", { status: "rejected" });
  for (const id of [used, pending, kept]) {
    const tenant_id = id === kept ? "long" : "short";
    await database.db
      .insertInto("notifications")
      .values({
        id,
        tenant_id,
        end_user_id: people[tenant_id],
        notification_type: "approval_requested",
        title: "t",
        body: "k asks to call t on s.",
        metadata: JSON.stringify({ approval_id: id }),
      })
      .execute();
  }
  const left = async () =>
    Object.fromEntries(
      (await database.db.selectFrom("approvals").select(["id", "call_arguments", "request_metadata"]).execute()).map((row) => [
        row.id,
        `${row.call_arguments} ${Object.keys(row.request_metadata).length}`,
      ]),
    );
  at += 11 * DAY;
  await retain();
  expect(await left()).toEqual({
    [used]: "{} 0",
    [rejected]: "{} 0",
    [pending]: `${given} 1`,
    [unused]: `${given} 1`,
    [kept]: `${given} 1`,
  });
  at += 10 * DAY;
  await retain();
  expect(Object.keys(await left()).toSorted()).toEqual([pending, unused, kept].toSorted());
  expect((await database.db.selectFrom("notifications").select("id").execute()).map(({ id }) => id).toSorted()).toEqual(
    [pending, kept].toSorted(),
  );
});

test("usage that no limit needs any more is deleted", async () => {
  const { db } = database;
  at = Date.UTC(2026, 0, 1);
  const group = crypto.randomUUID();
  await sql`INSERT INTO resource_groups (id, tenant_id, name) VALUES (${group}, 'long', 'group')`.execute(db);
  const used = async (name: string) => {
    const when = new Date(at);
    await sql`INSERT INTO tool_usage_hourly VALUES ('long', ${when}, ${group}, ${name}, 1)`.execute(db);
    await sql`INSERT INTO tool_results_hourly VALUES ('long', ${when}, ${group}, ${name}, 1)`.execute(db);
    await sql`INSERT INTO model_usage_daily VALUES ('long', (${when}::timestamptz AT TIME ZONE 'UTC')::date, ${group}, ${name}, 1, 1, 1)`.execute(
      db,
    );
    await sql`INSERT INTO usage_daily VALUES ('long', (${when}::timestamptz AT TIME ZONE 'UTC')::date, ${group}, ${name}, 1, 0, 1, 1, 1, 0)`.execute(
      db,
    );
  };
  await used("old");
  const left = async () => {
    const names = async (table: string, column: string) =>
      (
        await sql<{ name: string }>`SELECT ${sql.ref(column)} AS name FROM ${sql.table(table)} WHERE tenant_id = 'long' ORDER BY 1`.execute(
          db,
        )
      ).rows.map(({ name }) => name);
    return {
      tools: await names("tool_usage_hourly", "server_id"),
      results: await names("tool_results_hourly", "model_id"),
      models: await names("model_usage_daily", "model_id"),
      days: await names("usage_daily", "llm_model_used"),
    };
  };
  at += 2 * DAY + 3_600_000;
  await used("new");
  await retain();
  const both = ["new", "old"];
  expect(await left()).toEqual({ tools: ["new"], results: ["new"], models: both, days: both });
  at += 31 * DAY;
  await retain();
  expect(await left()).toEqual({ tools: [], results: [], models: ["new"], days: both });
  at += 28 * DAY;
  await retain();
  expect(await left()).toEqual({ tools: [], results: [], models: [], days: both });
});

test("notifications are deleted when they expire or with the calls; alerts and conversation notices with the calls", async () => {
  at = Date.UTC(2026, 0, 1);
  const notify = (id: string, tenantId: "short" | "long", days: number | null) =>
    database.db
      .insertInto("notifications")
      .values({
        id,
        tenant_id: tenantId,
        end_user_id: people[tenantId],
        notification_type: "usage_warning",
        title: "t",
        body: "b",
        created_at: new Date(at),
        expires_at: days === null ? null : new Date(at + days * DAY),
      })
      .execute();
  const alertNames = new Map<string, string>();
  for (const tenant of ["short", "long"] as const) {
    for (const [name, days] of [
      ["a day", 1],
      ["long", 30],
      ["ever", null],
    ] as const)
      await notify(`${tenant} for ${name}`, tenant, days);
    for (const [id, resolved, expires_at] of [
      ["over", true, new Date(at)],
      ["open", false, new Date(at + 300 * DAY)],
      ["of no window", false, null],
    ] as const) {
      const alert = ulidAt(at);
      alertNames.set(alert, `${tenant} ${id}`);
      await database.db
        .insertInto("alerts")
        .values({
          id: alert,
          tenant_id: tenant,
          alert_type: "usage_warning",
          severity: "warning",
          title: "t",
          message: "m",
          group_id: null,
          threshold_value: 1,
          current_value: 1,
          crossing: id,
          resolved,
          resolved_at: null,
          created_at: new Date(at),
          expires_at,
        })
        .execute();
    }
    await database.db
      .insertInto("conversation_notices")
      .values({ tenant_id: tenant, conversation_handle: "h", method: "banner", record_id: "r", noticed_at: new Date(at) })
      .execute();
  }
  const left = async () => ({
    notifications: (
      await database.db.selectFrom("notifications").select("id").where("notification_type", "=", "usage_warning").orderBy("id").execute()
    ).map(({ id }) => id),
    alerts: (await database.db.selectFrom("alerts").select("id").execute()).map(({ id }) => alertNames.get(id) ?? id).toSorted(),
    notices: (await database.db.selectFrom("conversation_notices").select("tenant_id").orderBy("tenant_id").execute()).map(
      ({ tenant_id: id }) => id,
    ),
  });
  const all = (await left()).alerts;
  at += 19 * DAY;
  await retain();
  expect(await left()).toEqual({
    notifications: ["long for ever", "long for long", "short for ever", "short for long"],
    alerts: all,
    notices: ["long", "short"],
  });
  at += 2 * DAY;
  await retain();
  expect(await left()).toEqual({
    notifications: ["long for ever", "long for long"],
    alerts: all.filter((id) => id.startsWith("long") || id === "short open"),
    notices: ["long"],
  });
});

test("bodies, rows and months are deleted when due, and the rest verifies, also offline", async () => {
  await retain();
  await month(Date.UTC(2026, 0, 20), 1_005);
  // Arrived in January but ended in February, between other calls.
  at = Date.UTC(2026, 1, 2);
  await call(Date.UTC(2026, 1, 2));
  await call(Date.UTC(2026, 0, 31, 23, 59));
  await month(Date.UTC(2026, 1, 3), 993);
  await ledger.shipped();
  const whole = await verify();
  expect([whole.verdict, whole.pruned_through, whole.rows_checked]).toEqual(["intact", null, 2_000]);
  expect(await counted("tableoid = 'audit_rows_2026_01'::regclass")).toBe(1_006);

  at = Date.UTC(2026, 0, 20) + 11 * DAY;
  await retain();
  expect(await counted("tenant_id = 'short' AND request_body_preview IS NULL AND bodies_pruned_at IS NOT NULL")).toBe(502);
  expect(await counted("tenant_id = 'long' AND request_body_preview IS NULL")).toBe(0);
  expect([(await verify()).verdict, (await verify()).bodies_expired]).toEqual(["intact", 502]);

  at = Date.UTC(2026, 0, 21) + 21 * DAY;
  await retain();
  expect(await counted("tenant_id = 'short' AND client_ip IS NULL AND row_hash IS NOT NULL")).toBe(502);
  expect((await verify()).verdict).toBe("intact");

  // January is past retention for both tenants; the call that ended in February stays, and so do rows no checkpoint covers.
  at = Date.UTC(2026, 3, 2);
  await retain();
  expect(await counted("chain_seq <= 1000")).toBe(0);
  expect(await counted("true")).toBe(1_000);
  const rest = await verify();
  expect([rest.verdict, rest.pruned_through, rest.rows_checked, rest.findings]).toEqual(["intact", 1_000, 1_000, []]);
  const lines: string[] = [];
  for await (const line of exportChain(database.db, ledger.chainId)) lines.push(line.trimEnd());
  expect(lines.filter((line) => line.startsWith('{"type":"pruned"'))).toHaveLength(1);
  expect(await verifyExport(lines)).toMatchObject({ verdict: "intact", pruned_through: 1_000 });
  const logged = await database.db
    .selectFrom("admin_log")
    .select(["resource_id", "after"])
    .where("action", "=", "retention_drop")
    .execute();
  expect(logged).toMatchObject([{ resource_id: ledger.chainId, after: { through_seq: 1_000 } }]);
  await retain();
  expect((await verify()).pruned_through).toBe(1_000);
});

test("a prefix whose checkpoint is invalid is evidence, and is not dropped", async () => {
  at = Date.UTC(2026, 6, 1);
  await call(at);
  await ledger.shipped();
  await sql`UPDATE audit_rows SET row_hash = repeat('ab', 32) WHERE chain_seq = 2000`.execute(database.db);
  const log = recordedLog();
  await applyRetention(database.db, clock, log);
  expect(log.events.map(({ event }) => event)).toContain("audit_prefix_not_dropped");
  expect(await counted("true")).toBe(1_001);
  expect((await verify()).verdict).toBe("altered");
});

test("the rows of a deleted tenant are subject to its last retention settings", async () => {
  at = Date.UTC(2026, 8, 1);
  const id = await call(at, { tenant_id: "short" });
  await ledger.shipped();
  await database.db.transaction().execute(async (trx) => {
    const { data_retention } = await trx.selectFrom("tenants").select("data_retention").where("id", "=", "short").executeTakeFirstOrThrow();
    await recordDeletedTenant(trx, { id: "short", data_retention }, new Date(at));
    await trx.deleteFrom("tenants").where("id", "=", "short").execute();
  });
  at += 9 * DAY;
  await retain();
  expect(await counted(`id = '${id}' AND request_body_preview IS NOT NULL`)).toBe(1);
  at += 2 * DAY;
  await retain();
  expect(await counted(`id = '${id}' AND request_body_preview IS NULL AND client_ip IS NOT NULL`)).toBe(1);
  at += 10 * DAY;
  await retain();
  expect(await counted(`id = '${id}' AND client_ip IS NULL`)).toBe(1);
});

test("the record of a deleted tenant is removed with its rows and runs", async () => {
  const { db } = database;
  const data_retention = { store_bodies: "none", body_days: 1, log_days: 20, run_days: 60, file_days: 30 } as const;
  await db.transaction().execute((trx) => recordDeletedTenant(trx, { id: "brief", data_retention }, new Date(at)));
  await sql`INSERT INTO usage_hourly (tenant_id, hour, resource_group_id, llm_model_used, api_key_id, requests, errors, prompt_tokens, completion_tokens, cost_micro_usd, unpriced_requests) VALUES ('brief', ${new Date(at)}, '', '', '', 1, 0, 0, 0, 0, 0)`.execute(
    db,
  );
  await sql`INSERT INTO runs (tenant_id, root_task_id, state, started_at, active_at) VALUES ('brief', 'r', 'completed', ${new Date(at)}, ${new Date(at)})`.execute(
    db,
  );
  const kept = async () =>
    (
      await sql<{
        id: string;
      }>`SELECT id FROM gone_tenants UNION ALL SELECT tenant_id FROM usage_hourly WHERE tenant_id = 'brief' ORDER BY id`.execute(db)
    ).rows.map(({ id }) => id);
  at += 59 * DAY;
  await retain();
  expect(await kept()).toEqual(["brief", "brief", "short"]);
  at += 2 * DAY;
  await retain();
  // The other tenant has rows that may be evidence.
  expect(await kept()).toEqual(["short"]);
});

test("feedback on runs is deleted with the runs", async () => {
  const run = await call(at, { run_end_state: "completed" });
  await ledger.shipped();
  for (const root of [run, "gone before"])
    await putFeedback(database.db, {
      tenantId: "long",
      rootTaskId: root,
      userId: people.long,
      score: 1,
      comment: "thanks",
      now: new Date(at),
    });
  const feedback = async () =>
    (await database.db.selectFrom("run_feedback").select("root_task_id").execute()).map((row) => row.root_task_id);
  at += 59 * DAY;
  await retain();
  expect((await feedback()).toSorted()).toEqual([run, "gone before"].toSorted());
  at += 2 * DAY;
  await retain();
  expect(await feedback()).toEqual([]);
});

test("an hour of run statistics is deleted with its last run, and until then counts the runs that remain", async () => {
  const root_task_id = "open for long";
  const stats = async () =>
    (
      await sql`SELECT hour::text, runs, open, completed, cancelled, calls, prompt_tokens FROM run_hourly WHERE tenant_id = 'long' AND resource_group_id = 'slow' ORDER BY hour`.execute(
        database.db,
      )
    ).rows;
  const shipped = async (fields: object) => {
    await call(at, { resource_group_id: "slow", llm_prompt_tokens: 10, ...fields });
    await ledger.shipped();
  };
  at = Date.UTC(2026, 8, 1, 12);
  const hour = "2026-09-01 12:00:00+00";
  await shipped({ root_task_id });
  await shipped({ run_end_state: "completed" });
  expect(await stats()).toEqual([{ hour, runs: 2, open: 1, completed: 1, cancelled: 0, calls: 2, prompt_tokens: 20 }]);
  at += 61 * DAY;
  await retain();
  expect(await stats()).toEqual([{ hour, runs: 1, open: 1, completed: 0, cancelled: 0, calls: 1, prompt_tokens: 10 }]);
  await shipped({ root_task_id, run_end_state: "cancelled" });
  expect(await stats()).toEqual([{ hour, runs: 1, open: 0, completed: 0, cancelled: 1, calls: 2, prompt_tokens: 20 }]);
  await retain();
  expect(await stats()).toEqual([]);
});
