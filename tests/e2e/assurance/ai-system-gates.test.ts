import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { jsonLog } from "../../../server/kernel/log.ts";
import { openDatabase } from "../../../server/store/database.ts";
import { type AdminClient, signIn } from "../../support/worlds/admin.ts";
import { ADMIN_PASSWORD } from "../../support/gateway.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";
import { newTeam, type Team } from "../tools/mcp-harness.ts";

/** The gates before a version is promoted and before a system goes into service. */
let world: World;
let owner: AdminClient;
let reviewer: AdminClient;
let team: Team;
let connection: ReturnType<typeof openDatabase>;

beforeAll(async () => {
  world = await startWorld();
  const account = (username: string) => ({ tenant_id: "default", username, password: ADMIN_PASSWORD });
  for (const username of ["owner", "reviewer"]) await world.admin.post("/v1/admin/admin-users", { ...account(username), role: "owner" });
  owner = await signIn(world.gateway.adminUrl, account("owner"), "tenant");
  reviewer = await signIn(world.gateway.adminUrl, account("reviewer"), "tenant");
  await world.admin.request("PATCH", "/v1/admin/tenants/default", { data_retention: { store_bodies: "full", log_days: 400 } });
  team = await newTeam(world.admin, "gated");
  await owner.post("/v1/admin/providers", { provider_key: "own-echo", api_format: "echo" });
  await owner.post("/v1/admin/llms", { name: "agreed", provider: "own-echo", group_ids: [team.groupId] });
  await owner.post("/v1/admin/ai-systems", { group_id: team.groupId });
  await owner.request("PATCH", at(), {
    ...{ owner: "Ada", purpose: "Answers tickets", role: "deployer", risk_class: "minimal", data_classes: ["contact"] },
    ...{ affected_people: "Customers", oversight_person: "Grace", interacts_with_people: false },
  });
  connection = openDatabase(world.databaseUrl, { log: jsonLog("error"), max: 1 });
});
afterAll(async () => {
  await connection.close();
  await world.end();
});

const at = (rest = "") => `/v1/admin/ai-systems/${team.groupId}${rest}`;
const lifecycle = (to: string) => owner.request("POST", at("/lifecycle"), { to, reason: "as planned" });
const promote = (id: string) => owner.request("POST", `/v1/admin/contracts/${id}/promote`, {});

async function approved(): Promise<{ id: string; version: number }> {
  const contract = await owner.post(at("/contracts"), {});
  await reviewer.post(`/v1/admin/contracts/${contract.id}/approve`, { reason: "read it" });
  return contract;
}

/** Inserts a finding as the sweep over the rows would. */
async function finding(severity: string): Promise<string> {
  const id = crypto.randomUUID();
  await connection.db
    .insertInto("drift_findings")
    .values({
      ...{ id, tenant_id: "default", ai_system_id: team.groupId, kind: "data_drift_class", severity, subject: crypto.randomUUID() },
      ...{ title: "Personal data where there was none", first_seen: new Date(), last_seen: new Date() },
    })
    .execute();
  return id;
}

test("a contract is not promoted while a critical finding is open; an open high finding does not prevent it", async () => {
  const contract = await approved();
  const [critical, high] = [await finding("critical"), await finding("high")];
  const refused = await promote(contract.id);
  expect([refused.status, refused.body.code, refused.body.allowed]).toEqual([409, "illegal_transition", ["promote", "revoke"]]);
  expect(refused.body.detail).toContain("1 critical findings are open.");
  expect((await owner.get(at("/contracts/current")).catch(() => null))?.id).not.toBe(contract.id);
  // Acknowledging a finding does not resolve it.
  await owner.post(`/v1/admin/drift/${critical}/ack`, {});
  expect((await promote(contract.id)).status).toBe(409);
  await owner.post(`/v1/admin/drift/${critical}/false-positive`, { note: "a test address" });
  const promoted = await promote(contract.id);
  expect([promoted.status, promoted.body.state]).toEqual([200, "active"]);
  expect((await owner.get(`/v1/admin/drift?status=open`)).findings.map(({ id }: any) => id)).toEqual([high]);
});

test("a contract revoked while another one replaces it stays revoked", async () => {
  const { groupId } = await newTeam(world.admin, "revoked meanwhile");
  await owner.post("/v1/admin/ai-systems", { group_id: groupId });
  const next = async (): Promise<string> => {
    const { id } = await owner.post(`/v1/admin/ai-systems/${groupId}/contracts`, {});
    await reviewer.post(`/v1/admin/contracts/${id}/approve`, { reason: "read it" });
    return id;
  };
  const [first, second] = [await next(), await next()];
  expect((await promote(first)).status).toBe(200);
  const watch = openDatabase(world.databaseUrl, { log: jsonLog("error"), max: 1 });
  const waiting = (sessions: number) =>
    until(
      () =>
        sql<{
          n: number;
        }>`SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(watch.db),
      ({ rows }) => Number(rows[0]?.n) === sessions,
    );
  try {
    const held = await connection.db.startTransaction().execute();
    await sql`SELECT FROM ai_contracts WHERE id = ${first} FOR UPDATE`.execute(held);
    const revoked = owner.request("POST", `/v1/admin/contracts/${first}/revoke`, { reason: "it leaks" });
    await waiting(1);
    const promoted = promote(second);
    await waiting(2);
    await held.rollback().execute();
    expect([(await revoked).status, (await promoted).status]).toEqual([200, 200]);
  } finally {
    await watch.close();
  }
  const { contracts } = await owner.get(`/v1/admin/ai-systems/${groupId}/contracts`);
  expect(contracts.map(({ id, state, decision }: any) => [id, state, decision?.reason ?? null])).toEqual([
    [second, "active", null],
    [first, "revoked", "it leaks"],
  ]);
});

test("a contract approved under a lower risk class is not promoted once the class needs two approvals", async () => {
  const account = { tenant_id: "default", username: "second-reviewer", password: ADMIN_PASSWORD };
  await world.admin.post("/v1/admin/admin-users", { ...account, role: "owner" });
  const second = await signIn(world.gateway.adminUrl, account, "tenant");
  const { groupId } = await newTeam(world.admin, "called higher");
  const system = `/v1/admin/ai-systems/${groupId}`;
  await owner.post("/v1/admin/ai-systems", { group_id: groupId });
  const called = (risk_class: string) => owner.request("PATCH", system, { risk_class });
  const minted = () => owner.post(`${system}/contracts`, {});
  const approve = (by: AdminClient, id: string) => by.post(`/v1/admin/contracts/${id}/approve`, { reason: "read it" });
  await called("minimal");
  const first = await minted();
  await approve(reviewer, first.id);
  expect((await promote(first.id)).body.state).toBe("active");

  await owner.post("/v1/admin/llms", { name: "wider", provider: "own-echo", group_ids: [groupId] });
  const wider = await minted();
  expect([wider.required_approvals, (await approve(reviewer, wider.id)).state]).toEqual([1, "approved"]);
  await called("high");
  for (const body of [{}, { override_gate: { reason: "it is urgent" } }]) {
    const refused = await owner.request("POST", `/v1/admin/contracts/${wider.id}/promote`, body);
    expect([refused.status, refused.body.code]).toEqual([409, "illegal_transition"]);
    expect(refused.body.detail).toContain("2 people have to approve");
  }

  const again = await minted();
  expect([again.required_approvals, (await approve(reviewer, again.id)).state]).toEqual([2, "proposed"]);
  expect((await approve(second, again.id)).state).toBe("approved");
  expect((await promote(again.id)).body.state).toBe("active");

  // A revoked contract still counts as what the system could do before.
  await owner.post(`/v1/admin/contracts/${again.id}/revoke`, { reason: "to get round the second person" });
  await owner.post("/v1/admin/llms", { name: "wider still", provider: "own-echo", group_ids: [groupId] });
  expect((await minted()).required_approvals).toBe(2);
});

test("a system cannot go into service until the current replay suite has passed", async () => {
  for (const to of ["assessed", "approved"]) expect((await lifecycle(to)).body.state).toBe(to);
  const asked = await Promise.all(
    Array.from({ length: 5 }, async (_, index) => {
      const answer = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-api-key": team.apiKey },
        body: JSON.stringify({ model: "agreed", messages: [{ role: "user", content: `a question ${index}` }] }),
      });
      await answer.text();
      return answer.headers.get("x-request-id") as string;
    }),
  );
  const suite = async (required: string) => {
    const cases = asked.map((row_id) => ({ row_id, expect: { required_texts: [required] } }));
    const body = { size: 0, threshold: 0.5, repeats: 1, cases };
    await until(async () => (await owner.request("POST", at("/replay/suite"), body)).status === 200);
  };
  const replayed = async () => {
    const { id } = await owner.post(at("/replay/run"), {});
    const run = await until(
      () => owner.get(at(`/replay/runs/${id}`)),
      ({ state }) => !["queued", "running"].includes(state),
    );
    return run.state;
  };
  const unmet = async () => {
    const { status, body } = await lifecycle("in_service");
    const told = body.transitions?.find(({ to }: any) => to === "in_service").requirements.filter(({ met }: any) => !met);
    return [status, ...(told ?? []).map(({ id }: any) => id)];
  };
  await suite("words that no answer has");
  expect(await unmet()).toEqual([409, "replay_gate"]);
  expect(await replayed()).toBe("failed");
  expect(await unmet()).toEqual([409, "replay_gate"]);
  await suite("a question");
  expect(await unmet()).toEqual([409, "replay_gate"]);
  expect(await replayed()).toBe("passed");
  expect((await owner.get(at("/replay"))).gate.verdict).toBe("passed");
  expect((await lifecycle("in_service")).body.state).toBe("in_service");
});
