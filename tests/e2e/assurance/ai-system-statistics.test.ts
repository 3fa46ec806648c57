import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { freezeBaseline } from "../../../server/directory/assurance/baselines.ts";
import { DriftWatch } from "../../../server/directory/assurance/watch-drift.ts";
import { write } from "../../../server/directory/writes/write.ts";
import { jsonLog } from "../../../server/kernel/log.ts";
import { until } from "../../support/until.ts";
import { controlPlane, movableClock, newTenant, type ControlPlane, type Send } from "../admin/admin-harness.ts";

/** Metrics that drift away from normal gradually, which no single row shows. */
const HOUR_MS = 3_600_000;
const clock = movableClock();
let plane: ControlPlane;
let owner: Send;
let system = "";
let watch: DriftWatch;

beforeAll(async () => {
  plane = await controlPlane({ clock, jwtExpirySeconds: 10_000_000 });
  owner = (await newTenant(plane, "acme")).send;
  await newSystem("system");
  watch = new DriftWatch({ ...plane.directory, clock }, { calls: 1_000, days: 7 }, jsonLog("error"));
});
afterAll(() => plane.close());

/** Creates the system that subsequent calls belong to. */
async function newSystem(name: string): Promise<void> {
  system = (await owner("POST", "/v1/admin/resource-groups", { name })).body.id;
  await owner("POST", "/v1/admin/ai-systems", { group_id: system });
}
async function freeze(): Promise<void> {
  const actor = { id: null, username: "owner", role: null, clientIp: null, requestId: null };
  await write({ ...plane.directory, clock }, actor, (change) => freezeBaseline(change, "acme", system, null));
}
/** Adds usage for the given number of hours, up to the last full hour. */
async function called(hours: number, { cost = 1, errors = 2 }: { cost?: number; errors?: number } = {}): Promise<void> {
  const last = Math.floor(clock.now() / HOUR_MS) * HOUR_MS;
  const rows = Array.from({ length: hours }, (_, i) => {
    const tokens = Math.round((100_000 + (i % 5) * 3_000) * cost);
    return {
      tenant_id: "acme",
      hour: new Date(last - (hours - i) * HOUR_MS),
      resource_group_id: system,
      api_key_id: "k",
      llm_model_used: "m",
      requests: 100,
      errors: errors + (i % 3),
      prompt_tokens: tokens,
      completion_tokens: 0,
      cost_micro_usd: tokens * 2,
      unpriced_requests: 0,
    };
  });
  await plane.database.db.insertInto("usage_hourly").values(rows).execute();
}
const open = async () => (await owner("GET", `/v1/admin/ai-systems/${system}/drift?status=open`)).body.findings;
const later = (hours: number) => clock.advance(hours * HOUR_MS);

test("a lasting cost increase of 30 % is found once, and no increase is reported within an incident window", async () => {
  await called(200);
  await freeze();
  later(60);
  await called(48);
  await watch.run();
  expect(await open()).toEqual([]);

  later(50);
  await called(40, { cost: 1.3 });
  await watch.run();
  const found = await open();
  expect(found.map(({ kind, severity, title }: any) => [kind, severity, title]).sort()).toEqual([
    ["cost", "medium", "A call costs 30 % more than is normal"],
    ["token_shape", "medium", "A call takes 30 % more tokens than is normal"],
  ]);
  later(1);
  await watch.run();
  expect((await open()).map(({ id }: any) => id).sort()).toEqual(found.map(({ id }: any) => id).sort());

  for (const { id } of found) await owner("POST", `/v1/admin/drift/${id}/resolve`, { kind: "fixed" });
  later(1);
  await watch.run();
  expect(await open()).toEqual([]);
  const { body: window } = await owner("POST", `/v1/admin/ai-systems/${system}/incident-windows`, {
    title: "Known",
    severity: "sev3",
    started_at: new Date(clock.now()).toISOString(),
  });
  later(50);
  await called(40, { errors: 40 });
  await watch.run();
  expect(await open()).toEqual([]);
  await owner("DELETE", `/v1/admin/incident-windows/${window.id}`);
  later(1);
  await watch.run();
  expect((await open()).map(({ kind, title }: any) => [kind, title])).toEqual([
    ["error_rate", "41.0 % of calls fail, where 3.0 % are normal"],
  ]);
});

test("an increase marked as a false positive is not reported again, but a greater one or a new baseline is", async () => {
  await newSystem("rises");
  await called(200);
  await freeze();
  const costs = async () => (await open()).filter(({ kind }: any) => kind === "cost").map(({ title }: any) => title);
  const rise = async (cost: number) => {
    later(50);
    await called(40, { cost });
    await watch.run();
    return costs();
  };
  const dismiss = async () => {
    for (const { id } of await open()) await owner("POST", `/v1/admin/drift/${id}/false-positive`, {});
  };
  expect(await rise(1.3)).toEqual(["A call costs 30 % more than is normal"]);
  await dismiss();
  expect(await rise(1.32)).toEqual([]);
  const [greater] = await rise(3);
  expect(greater).toContain("more than is normal");
  await dismiss();
  expect(await rise(1.3)).toEqual([]);
  await freeze();
  expect(await rise(3)).toHaveLength(1);
});

test("an accepted risk is reported again after its expiry", async () => {
  await newSystem("risky");
  await called(200);
  await freeze();
  const rise = async () => {
    later(50);
    await called(40, { errors: 60 });
    await watch.run();
    return open();
  };
  const [found] = await rise();
  const expiry = new Date(clock.now() + 75 * HOUR_MS).toISOString();
  const path = `/v1/admin/drift/${found.id}/resolve`;
  const wrong = await owner("POST", path, { kind: "fixed", expires_at: expiry });
  expect([wrong.status, wrong.body.fields[0].field]).toEqual([400, "expires_at"]);
  const taken = await owner("POST", path, { kind: "risk_accepted", expires_at: expiry });
  expect(taken.body.resolution).toMatchObject({ kind: "risk_accepted", expires_at: expiry });
  expect(await rise()).toEqual([]);
  expect((await rise()).map(({ kind }: any) => kind)).toEqual(["error_rate"]);
});

test("errors caused by an active response are no finding, and trigger no other response", async () => {
  await newSystem("narrowed");
  await called(200);
  await freeze();
  await plane.database.db
    .insertInto("responses")
    .values({
      ...{ id: crypto.randomUUID(), tenant_id: "acme", ai_system_id: system, policy_name: "no tools", action: "block_tools" },
      ...{ status: "active", reason: "a tool that nobody knows", fired_at: new Date(clock.now()) },
      expires_at: new Date(clock.now() + 1_000 * HOUR_MS),
    })
    .execute();
  later(50);
  await called(40, { errors: 60 });
  await watch.run();
  expect(await open()).toEqual([]);
  await owner("POST", `/v1/admin/ai-systems/${system}/restore`, { reason: "looked at it" });
  later(50);
  await called(40, { errors: 60 });
  await watch.run();
  expect((await open()).map(({ kind }: any) => kind)).toEqual(["error_rate"]);
});

test("two processes that learn at the same time freeze one first baseline", async () => {
  const { db } = plane.database;
  const id = (await owner("POST", "/v1/admin/resource-groups", { name: "learned" })).body.id;
  await owner("POST", "/v1/admin/ai-systems", { group_id: id });
  await db
    .insertInto("ai_system_observations")
    .values({
      ...{ tenant_id: "acme", ai_system_id: id, kind: "call", subject: "", calls: 1_000, first_row: "1", last_row: "2" },
      ...{ first_seen: new Date(clock.now() - 200 * HOUR_MS), last_seen: new Date(clock.now()) },
    })
    .execute();
  const processes = [1, 2].map(() => new DriftWatch({ ...plane.directory, clock }, { calls: 1_000, days: 7 }, jsonLog("error")));
  // By then both have seen that there is no baseline.
  const held = await db.startTransaction().execute();
  await sql`LOCK TABLE baseline_epochs IN SHARE MODE`.execute(held);
  const looks = processes.map((one) => one.run());
  await until(
    () =>
      sql<{
        n: number;
      }>`SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(db),
    ({ rows }) => Number(rows[0]?.n) === looks.length,
  );
  await held.rollback().execute();
  await Promise.all(looks);
  const { baseline_epochs: epochs } = (await owner("GET", `/v1/admin/ai-systems/${id}/baseline-epochs`)).body;
  expect(epochs.map(({ epoch }: any) => epoch)).toEqual([1]);
});
