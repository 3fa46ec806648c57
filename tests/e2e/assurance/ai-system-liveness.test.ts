import { afterAll, beforeAll, expect, test } from "bun:test";
import pg from "pg";
import { type AdminClient, rowOf, signIn } from "../../support/worlds/admin.ts";
import { ADMIN_PASSWORD } from "../../support/gateway.ts";
import { startWorld, type World } from "../../support/world.ts";
import { until } from "../../support/until.ts";
import { newTeam, type Team } from "../tools/mcp-harness.ts";

/** Finds controls that show no sign of life while calls pass, and kinds of data not seen before. */
let world: World;
let owner: AdminClient;
let team: Team;
let guardrail = "";

beforeAll(async () => {
  world = await startWorld({ GW_BASELINE_CALLS: "3", GW_BASELINE_DAYS: "0" });
  const account = { tenant_id: "default", username: "owner", password: ADMIN_PASSWORD };
  await world.admin.post("/v1/admin/admin-users", { ...account, role: "owner" });
  owner = await signIn(world.gateway.adminUrl, account, "tenant");
  team = await newTeam(world.admin, "watched");
  await owner.post("/v1/admin/providers", { provider_key: "own-echo", api_format: "echo" });
  await owner.post("/v1/admin/llms", { name: "agreed", provider: "own-echo", group_ids: [team.groupId] });
  const { id } = await owner.post("/v1/admin/guardrails/configs", {
    name: "persons",
    group_ids: [team.groupId],
    surfaces: { chat_input: true },
    builtin: { pii_enabled: true, pii_action: "warn", pii_categories: ["email"] },
  });
  guardrail = id;
  await owner.post("/v1/admin/ai-systems", { group_id: team.groupId });
});
afterAll(() => world.end());

const at = (rest: string) => `/v1/admin/ai-systems/${team.groupId}${rest}`;
async function ask(content: string, instructions?: string): Promise<string> {
  const system = instructions === undefined ? [] : [{ role: "system", content: instructions }];
  const answer = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": team.apiKey },
    body: JSON.stringify({ model: "agreed", messages: [...system, { role: "user", content }] }),
  });
  expect(answer.status).toBe(200);
  await answer.text();
  return answer.headers.get("x-request-id") ?? "";
}

const open = async (): Promise<any[]> => (await owner.get(`${at("/drift")}?status=open`)).findings;
const control = async (name: string) =>
  (await owner.get(at("/liveness"))).controls.find(({ control: one }: { control: string }) => one === name);

test("personal data in a system that had none before is a finding with its audit row", async () => {
  for (let call = 0; call < 3; call++) await ask(`question ${call}`);
  await until(
    () => owner.get(at("/baselines")),
    ({ state }: any) => state === "active",
  );
  const id = await ask("write to ada@example.com");
  const [found] = await until(open, (all) => all.length > 0);
  expect([found.kind, found.severity, found.subject, found.first_row]).toEqual(["data_drift_class", "high", "personal data", id]);
  expect((await rowOf(owner, { id })).pii_detected).toBe(true);
  await owner.post(`/v1/admin/drift/${found.id}/resolve`, { kind: "baselined" });
});

test("a system whose calls all fail still counts as live", async () => {
  const failing = await newTeam(world.admin, "failing");
  await owner.post("/v1/admin/ai-systems", { group_id: failing.groupId });
  const liveness = () => owner.get(`/v1/admin/ai-systems/${failing.groupId}/liveness`);
  const answer = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": failing.apiKey },
    body: JSON.stringify({ model: "out of order", messages: [{ role: "user", content: "hi" }] }),
  });
  expect(answer.ok).toBe(false);
  const client = new pg.Client({ connectionString: world.databaseUrl });
  await client.connect();
  try {
    await until(
      () => client.query("SELECT FROM ai_system_hours WHERE ai_system_id = $1", [failing.groupId]),
      ({ rowCount }) => rowCount === 1,
    );
    // Called every hour, but last answered seven hours ago.
    const answered = `INSERT INTO ai_system_observations (tenant_id, ai_system_id, kind, subject, detail, calls, first_seen, last_seen, first_row, last_row)
      VALUES ('default', $1, 'call', '', '{}', 100, now() - interval '3 days', now() - interval '7 hours', '1', '2')`;
    await client.query(answered, [failing.groupId]);
    const hours = `INSERT INTO usage_hourly (tenant_id, hour, resource_group_id, api_key_id, llm_model_used, requests, errors,
                                             prompt_tokens, completion_tokens, cost_micro_usd, unpriced_requests)
      SELECT 'default', date_trunc('hour', now()) - n * interval '1 hour', $1, 'k', 'm', 1, 1, 0, 0, 0, 0 FROM generate_series(0, 40) n`;
    await client.query(hours, [failing.groupId]);
  } finally {
    await client.end();
  }
  expect(await liveness()).toMatchObject({ status: "live", expectation: { usual_gap_seconds: 3_600 } });
});

test("a guardrail that stops inspecting while calls pass is a finding, and is live again once it inspects", async () => {
  for (let call = 0; call < 20; call++) await ask(`another ${call}`);
  const looking = await until(
    () => control("guardrails"),
    (one) => one?.usual_share === 1,
  );
  expect([looking.status, looking.calls_since]).toEqual(["live", 0]);
  await owner.request("PATCH", `/v1/admin/guardrails/configs/${guardrail}`, { enabled: false });
  for (let call = 0; call < 25; call++) await ask(`unseen ${call}`);
  const [found] = await until(open, (all) => all.some(({ kind }) => kind === "control_liveness"));
  expect([found.kind, found.severity]).toEqual(["control_liveness", "high"]);
  expect(found.last_row).toBe(looking.last_row);
  expect((await control("guardrails")).status).toBe("silent");
  await owner.request("PATCH", `/v1/admin/guardrails/configs/${guardrail}`, { enabled: true });
  await ask("seen again");
  await until(
    () => control("guardrails"),
    (one) => one.status === "live",
  );
  await owner.post(`/v1/admin/drift/${found.id}/resolve`, { kind: "fixed" });
  expect((await open()).filter(({ kind }) => kind === "control_liveness")).toEqual([]);
});

test("statements count the audit rows that meet them, and list the rows behind each count", async () => {
  const { statements } = await owner.get(at("/statements"));
  const of = (id: string) => statements.find((one: any) => one.id === id);
  const looked = of("guardrails.looked");
  expect([looked.of, looked.of - looked.met, looked.rows.length]).toEqual([50, 25, 25]);
  expect([of("calls.identified").met, of("autonomy.live").met, of("content.hashed").met]).toEqual([50, 50, 50]);
  expect([of("suspension.held").of, of("notice.before_first_turn").of]).toEqual([0, 0]);
  // The tenant restricts no regions.
  expect([of("residency.allowed").met, of("residency.allowed").of]).toEqual([0, 0]);
  const unseen = await owner.get(at("/statements/guardrails.looked/rows"));
  expect([unseen.met, unseen.rows, unseen.next]).toEqual([false, looked.rows, null]);
  const row = await rowOf(owner, { id: unseen.rows[0] });
  expect([row.guardrail_blocked, row.success]).toEqual([null, true]);
  const seen = await owner.get(at("/statements/guardrails.looked/rows?met=true"));
  expect(seen.rows.length).toBe(25);
  expect((await owner.request("GET", at("/statements/everything.fine/rows"))).status).toBe(404);
  for (const way of ["/statements", "/statements/guardrails.looked/rows"]) {
    const early = await owner.request("GET", at(`${way}?to=1970-01-01T00:00:00Z`));
    expect([early.status, early.body.fields[0].field]).toEqual([400, "from"]);
  }
  const long = await owner.request("GET", at("/statements?from=2020-01-01T00:00:00Z"));
  expect([long.status, long.body.fields[0].field]).toEqual([400, "from"]);
  const { report } = await owner.post(at("/assurance"), {});
  expect(report.statements.find((one: any) => one.id === "guardrails.looked").met).toBe(25);
});

test("a chain whose process is gone is one finding, however often other chains are signed", async () => {
  const client = new pg.Client({ connectionString: world.databaseUrl });
  await client.connect();
  const checkpoint = (signedAt: string) =>
    client.query(
      `INSERT INTO audit_checkpoints (chain_id, checkpoint_no, chain_seq, note, signed_at)
       SELECT chain_id, 1000000 + (SELECT count(*) FROM audit_checkpoints), head_seq, '', ${signedAt} FROM audit_chains WHERE chain_id <> 'gone' LIMIT 1`,
    );
  try {
    await checkpoint("now() - interval '1 minute'");
    await client.query(
      "INSERT INTO audit_chains (chain_id, writer, head_seq, head_hash, created_at, updated_at) VALUES ('gone', 'gone', 5, repeat('0', 64), '2026-01-02T03:04:05Z', now() - interval '1 hour')",
    );
    // Systems without a call are looked at once a minute.
    await ask("hello");
    const unsigned = async () => (await open()).filter(({ kind }) => kind === "control_liveness");
    const [found] = await until(unsigned, (all) => all.length > 0);
    expect(found).toMatchObject({ severity: "high", subject: "checkpoints since 2026-01-02T03:04:05.000Z" });
    expect((await control("checkpoints")).status).toBe("silent");
    await checkpoint("now()");
    // Two more sweeps: each reports findings about calls before findings about controls.
    for (const instructions of ["Be brief.", "Be polite."]) {
      const before = (await open()).length;
      await ask("hello", instructions);
      await until(open, (all) => all.length > before);
    }
    expect(await unsigned()).toHaveLength(1);
    await client.query("DELETE FROM audit_chains WHERE chain_id = 'gone'");
    await owner.post(`/v1/admin/drift/${found.id}/resolve`, { kind: "fixed" });
  } finally {
    await client.end();
  }
});
