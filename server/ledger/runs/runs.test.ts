import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { sql } from "kysely";
import { testDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { isoMicros } from "../../kernel/clock.ts";
import { ulid } from "../../kernel/ids.ts";
import { endIdleRuns } from "../../store/runs/run-sweep.ts";
import type { Ledger } from "../ledger.ts";
import { callRow, temporaryDirectory, testLedger } from "../test-support.ts";
import { readRunStats } from "./run-figures.ts";
import { viewRun } from "./run-view.ts";

let database: TestDatabase;
let first: Ledger;
let second: Ledger;
let tenant = "";

beforeAll(async () => {
  database = await testDatabase();
  first = await testLedger(database.db, temporaryDirectory());
  second = await testLedger(database.db, temporaryDirectory());
});
afterAll(async () => {
  await first.close();
  await second.close();
  await database.close();
});
beforeEach(async () => {
  tenant = ulid().toLowerCase();
  await database.db
    .insertInto("tenants")
    .values({ id: tenant, name: tenant, data_retention: JSON.stringify({}), default_judge_model_id: null } as never)
    .execute();
});

const NOW = Date.now() * 1000;
const at = (seconds: number) => isoMicros(NOW + seconds * 1_000_000);
const row = (fields: object) =>
  callRow({
    tenant_id: tenant,
    resource_group_id: "g",
    api_key_id: "k",
    root_task_id: "r",
    trace_continuity: "client_asserted",
    ...fields,
  });
const view = () => viewRun(database.db, tenant, ["r"], "k");

async function sealed(ledger: Ledger, ...rows: object[]): Promise<void> {
  for (const fields of rows) await ledger.seal(row(fields));
  await ledger.shipped();
}

test("calls of several writers are summed in one run, and a call after the run's end is late even if shipped before it", async () => {
  await sealed(first, { timestamp: at(-10) });
  await sealed(second, { timestamp: at(600), llm_prompt_tokens: 1_000 });
  // Its end is when its row was written, which is now; the call above claims to be ten minutes later.
  await sealed(first, { timestamp: at(-9), run_end_state: "completed" });
  expect(await view()).toMatchObject({ state: "completed", state_source: "client", calls: 2, late_calls: 1, prompt_tokens: 240 });
  await sealed(second, { timestamp: at(601) }, { timestamp: at(-8) });
  const run = await view();
  expect(run).toMatchObject({ calls: 3, late_calls: 2 });
  expect(run?.actions.map((action) => action.late)).toEqual([false, false, false, true, true]);
  const stats = await readRunStats(database.db, tenant, "g", { from: at(-7200), to: at(7200) });
  expect(stats).toMatchObject({ runs: 1, late_calls: 2, errors: { calls: 3 }, outcome_mix: { completed: 1, open: 0 } });
});

const ENDS: [what: string, rows: object[], state: string][] = [
  ["its last call succeeded", [{ success: false, error_type: "upstream_error", http_status_code: 502 }, {}], "completed"],
  ["a call used a fallback", [{ llm_used_fallback: true }, {}], "completed_degraded"],
  ["its last call failed upstream", [{}, { success: false, error_type: "upstream_timeout", http_status_code: 504 }], "errored"],
  ["governance refused its last call", [{}, { success: false, error_type: "model_not_allowed", http_status_code: 403 }], "blocked_policy"],
  ...["parameter_rejected", "ambiguous_name", "unsupported_by_a_control"].map((error_type): (typeof ENDS)[number] => [
    `governance refused its last call with a 400 (${error_type})`,
    [{}, { success: false, error_type, http_status_code: 400, custom_metadata: { refused_by: "parameters" } }],
    "blocked_policy",
  ]),
  [
    "governance refused its last call's arguments as too large",
    [{}, { success: false, error_type: "tool_payload_too_large", http_status_code: 413 }],
    "blocked_policy",
  ],
  [
    "a policy cut the stream of its last call",
    [{}, { success: false, error_type: "semantic_policy_block", http_status_code: 200 }],
    "blocked_policy",
  ],
  ["its last call was malformed", [{}, { success: false, error_type: "invalid_body", http_status_code: 400 }], "errored"],
  ["its last call's body was too large", [{}, { success: false, error_type: "body_too_large", http_status_code: 413 }], "errored"],
  [
    "a ceiling of the run refused its last call",
    [{}, { success: false, error_type: "run_ceiling_reached", http_status_code: 429 }],
    "exhausted",
  ],
];

for (const [what, rows, state] of ENDS) {
  test(`the sweep ends an idle run as ${state} when ${what}`, async () => {
    await sealed(first, ...rows.map((fields, index) => ({ timestamp: at(index), ...fields })));
    await endIdleRuns(database.db, new Date(Date.now() + 29 * 60_000));
    expect((await view())?.state).toBe("open");
    await endIdleRuns(database.db, new Date(Date.now() + 31 * 60_000));
    const ended = await view();
    expect([ended?.state, ended?.state_source, ended?.ended_at]).toEqual([state, "derived", ended?.last_call_at]);
    await endIdleRuns(database.db, new Date(Date.now() + 60 * 60_000));
    expect(await view()).toEqual(ended);
  });
}

test("the runs of a deleted tenant are ended too", async () => {
  const { db } = database;
  await sql`INSERT INTO gone_tenants (id, data_retention, gone_at) VALUES ('gone', '{}', now())`.execute(db);
  await sql`INSERT INTO runs (tenant_id, root_task_id, state, started_at, active_at) VALUES ('gone', 'r', 'open', now(), now())`.execute(
    db,
  );
  const state = async () => (await sql<{ state: string }>`SELECT state FROM runs WHERE tenant_id = 'gone'`.execute(db)).rows[0]?.state;
  await endIdleRuns(db, new Date(Date.now() + 29 * 60_000));
  expect(await state()).toBe("open");
  await endIdleRuns(db, new Date(Date.now() + 31 * 60_000));
  expect(await state()).not.toBe("open");
});

test("the tenant's setting decides after how much idle time a run ends", async () => {
  await database.db.updateTable("tenants").set({ run_idle_minutes: 2 }).where("id", "=", tenant).execute();
  await sealed(first, { timestamp: at(0) });
  await endIdleRuns(database.db, new Date(Date.now() + 3 * 60_000));
  expect((await view())?.state).toBe("completed");
});

test("a run whose span claims a start years ahead starts when it arrives, and ends when idle", async () => {
  const span = { source: "otel", trace_continuity: "external", timestamp: "2062-04-11T23:47:16.000000Z" };
  await sealed(first, span);
  expect(Date.parse((await view())?.started_at ?? "")).toBeLessThanOrEqual(Date.now());
  await endIdleRuns(database.db, new Date(Date.now() + 31 * 60_000));
  expect(await view()).toMatchObject({ state: "completed", calls: 1, late_calls: 0 });
  await sealed(first, { ...span, timestamp: at(-1), source: "gateway" });
  expect(await view()).toMatchObject({ state: "completed", calls: 2, late_calls: 0 });
});
