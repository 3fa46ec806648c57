import { afterAll, beforeAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { verifyCertificate } from "@gatehouse/ledger-format/certificate";
import { verifySealedReport } from "@gatehouse/ledger-format/sealed-report";
import { readPublicKeys } from "@gatehouse/ledger-format/signed-note";
import { Ajv2020 } from "ajv/dist/2020.js";
import { jsonLog } from "../../../server/kernel/log.ts";
import { pruneBodies } from "../../../server/store/ledger/audit-retention.ts";
import { openDatabase } from "../../../server/store/database.ts";
import { type AdminClient, rowOf, rowsOf, serveModels, signIn, signInAsApprover } from "../../support/worlds/admin.ts";
import { ADMIN_PASSWORD, type GatewayProcess, startGateway } from "../../support/gateway.ts";
import { newPerson } from "../../support/worlds/portal.ts";
import { startStatelessServer, type ToolServerFixture } from "../../support/tool-servers/tool-servers.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";
import { grant, newTeam, post, stateless, type Team } from "../tools/mcp-harness.ts";

/** Reports over a ledger with every kind of entry, recounted by an independent program, then sealed. */
const ROOT = join(import.meta.dir, "..", "..", "..");
const RECOUNT = join(ROOT, "tests", "support", "recount", "recount-reports.mjs");
const PATH = "/v1/admin/compliance";
/** A call that went through the gateway and was also reported by a span. */
const TRACED = { trace: "5b8efff798038103d269b633813fc60d", span: "00000000000000a2" };
const PATHS = {
  soc2: "soc2/control-coverage",
  eu_ai_act: "eu-ai-act/risk-classification",
  hipaa: "hipaa/phi-access",
  gdpr_art_30: "gdpr/article-30",
  iso_42001: "iso-42001/activity",
} as const;
const PRICED = { input_cost_per_million_tokens: 1, output_cost_per_million_tokens: 2 };
const TURNS = ["chat_completions", "responses", "completions", "anthropic_messages", "gemini_generate_content"];
const tenant = { tenant_id: "default" };
const SECRETS = { GW_SECRET_KEY: Buffer.alloc(32, 7).toString("base64"), GW_JWT_SECRET: "the same secret for both of the processes" };

let world: World;
let gateway: GatewayProcess;
let tools: ToolServerFixture;
let owner: AdminClient;
let system: AdminClient;
let clinic: Team;
let window: string;
let edges: { from: string; to: string };
const folder = mkdtempSync(join(tmpdir(), "recounted-"));

async function chat(key: string, model: string, headers: Record<string, string> = {}, content = "hi") {
  const answer = await fetch(`${gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(key === "" ? {} : { "x-api-key": key }), ...headers },
    body: JSON.stringify({ model, messages: [{ role: "user", content }] }),
  });
  await answer.body?.cancel();
  return { status: answer.status, id: answer.headers.get("x-request-id") as string };
}

async function signInAgain() {
  system = await signIn(gateway.adminUrl);
  owner = await signIn(gateway.adminUrl, { ...tenant, username: "auditor-of-all", password: ADMIN_PASSWORD }, "tenant");
}

/** A call that a person approved. */
async function approvedCall(team: Team) {
  const { id } = await system.post("/v1/admin/mcp-servers", { ...tenant, name: "tools", base_url: tools.baseUrl });
  await grant(system, "with approval", id, [team.groupId], { approval_required_tools: ["echo"], approval_timeout_seconds: 120 });
  const approver = await signInAsApprover(gateway.adminUrl, system);
  const call = stateless(1, "tools/call", { name: "echo", arguments: { text: "hi" } });
  const url = `${gateway.runtimeUrl}/v1/proxy/mcp/${id}`;
  const asked = (await post(url, team.apiKey, call)).body.error.data.approval_id;
  const { approval_token: token } = await approver.post(`/v1/admin/approvals/${asked}/approve`, { note: "fine" });
  expect((await post(url, team.apiKey, call, { "x-approval-token": token })).body.result).toBeDefined();
  await rowsOf(system, { server_id: id }, 2);
}

async function conversations(groupId: string) {
  const [person, gone] = [await newPerson(gateway.runtimeUrl, "patient"), await newPerson(gateway.runtimeUrl, "erased")];
  for (const { id } of [person, gone]) await system.request("PATCH", `/v1/admin/end-users/${id}/primary-group`, { group_id: groupId });
  const handles = ["01J00000000000000000000001", "01J00000000000000000000002"] as const;
  const notice = { conversation_handle: handles[0], locale: "en", method: "banner", text_sha256: "a".repeat(64) };
  expect((await person.request("POST", "/evidence/notice", notice)).status).toBe(200);
  for (const handle of handles) await chat("", "priced", { authorization: `Bearer ${person.token}`, "x-gw-conversation-handle": handle });
  await chat("", "priced", { authorization: `Bearer ${gone.token}` });
  await rowsOf(system, { gateway_user_id: gone.id, proxy_type: "llm" }, 1);
  await rowsOf(system, { gateway_user_id: person.id, proxy_type: "llm" }, 2);
  await system.post("/v1/admin/data-erasure?tenant_id=default", { subject: { gateway_user_id: gone.id } });
}

beforeAll(async () => {
  world = await startWorld(SECRETS);
  ({ gateway } = world);
  tools = startStatelessServer();
  system = world.admin;
  await system.post("/v1/admin/admin-users", { ...tenant, username: "auditor-of-all", password: ADMIN_PASSWORD, role: "owner" });
  await signInAgain();
  clinic = await newTeam(system, "clinic", { phi_resource: true, eu_ai_act_risk_tier: "high" });
  const ward = await newTeam(system, "ward", { parent_group_id: clinic.groupId });
  const banned = await newTeam(system, "forbidden things", { eu_ai_act_risk_tier: "prohibited" });
  await newTeam(system, "idle", { eu_ai_act_risk_tier: "limited" });
  const served = await serveModels(system, world.upstream.baseUrl, [
    { name: "priced", model_name: "fake-1", ...PRICED },
    "fake-1",
    "broken",
    "slow-down",
    "torn",
    "hold",
  ]);
  const groups = [clinic.groupId, ward.groupId, banned.groupId];
  for (const region of ["eu-central-1", "us-east-1"]) {
    const upstream = { api_format: "openai", base_url: world.upstream.baseUrl, api_key: "sk-upstream", region };
    await owner.post("/v1/admin/providers", { provider_key: region, ...upstream });
    await owner.post("/v1/admin/llms", { name: `in ${region}`, model_name: "fake-1", provider: region, group_ids: groups });
  }
  for (const model of Object.values(served.models))
    for (const group of groups) await owner.post(`/v1/admin/resource-groups/${group}/llm-models`, { model_ids: [model] });
  const builtin = { pii_enabled: true, pii_action: "redact", banned_words: ["titan"] };
  await owner.post("/v1/admin/guardrails/configs", { name: "on the ward", builtin, group_ids: [ward.groupId] });
  await owner.request("PATCH", `/v1/admin/resource-groups/${banned.groupId}/llm-global-limits`, {
    llm_global_limits: { requests: { daily_limit: 1 } },
  });

  for (const model of ["priced", "fake-1", "broken", "slow-down", "in eu-central-1", "in us-east-1", "no such model"])
    await chat(clinic.apiKey, model);
  const broken = fetch(`${gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": clinic.apiKey },
    body: JSON.stringify({ model: "torn", stream: true, messages: [{ role: "user", content: "hi" }] }),
  }).then(async (answer) => [answer.status, await answer.text().catch(() => "broken off")]);
  await until(() => world.upstream.seen.some(({ body }) => body.includes('"torn"')));
  world.upstream.release();
  expect((await broken)[0]).toBe(200);
  for (const content of ["hi", "write to joe@example.com", "project titan"]) await chat(ward.apiKey, "priced", {}, content);
  const limited = [await chat(banned.apiKey, "priced"), await chat(banned.apiKey, "priced")];
  expect(limited.map(({ status }) => status)).toEqual([200, 429]);
  await chat(served.apiKey, "fake-1");
  await approvedCall(clinic);
  await conversations(ward.groupId);
  const spans = [
    {
      traceId: "5b8efff798038103d269b633813fc60c",
      spanId: "00000000000000a1",
      name: "chat",
      kind: 3,
      startTimeUnixNano: "1763712000000000000",
      endTimeUnixNano: "1763712001500000000",
      attributes: [],
    },
    {
      ...{ traceId: TRACED.trace, spanId: TRACED.span, name: "chat priced", kind: 3 },
      ...{ startTimeUnixNano: "1763712000000000000", endTimeUnixNano: "1763712001500000000" },
      attributes: [
        { key: "gen_ai.operation.name", value: { stringValue: "chat" } },
        { key: "gen_ai.provider.name", value: { stringValue: "openai" } },
      ],
    },
  ];
  await chat(clinic.apiKey, "priced", { traceparent: `00-${TRACED.trace}-${TRACED.span}-01` });
  const traced = await fetch(`${gateway.runtimeUrl}/v1/ingest/otel/v1/traces`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": clinic.apiKey },
    body: JSON.stringify({ resourceSpans: [{ resource: { attributes: [] }, scopeSpans: [{ scope: { name: "t" }, spans }] }] }),
  });
  expect(traced.status).toBe(200);
  // One call is in progress when the process is killed at the end; its row is written after the restart.
  const lost = chat(served.apiKey, "hold").catch(() => null);
  await until(() => world.upstream.seen.some(({ body }) => body.includes('"hold"')));
  await system.request("PATCH", "/v1/admin/tenants/default", { allowed_regions: ["eu-central-1"] });
  for (;;) if ((await chat(clinic.apiKey, "in us-east-1")).status === 403) break;
  await chat(clinic.apiKey, "in eu-central-1");
  await owner.post("/v1/admin/ai-systems", { group_id: clinic.groupId, owner: "Ada" });
  await owner.post("/v1/admin/incident-windows", { title: "a fire", severity: "sev1", started_at: "2026-01-01T00:00:00Z" });

  await gateway.kill();
  await lost;
  gateway = await startGateway({ databaseUrl: world.databaseUrl, dataDir: gateway.dataDir, env: SECRETS });
  await signInAgain();
  await rowOf(system, { error_type: "gateway_interrupted" });

  const connection = openDatabase(world.databaseUrl, { log: jsonLog("error"), max: 1 });
  const oldest = await rowOf(system, { resource_group_id: banned.groupId, http_status_code: 200 });
  expect(await pruneBodies(connection.db, "default", new Date(Date.parse(oldest.timestamp) + 1), new Date())).toBeGreaterThan(0);
  await connection.close();
  edges = { from: "2026-01-01T00:00:00.000Z", to: new Date().toISOString() };
  window = `from=${edges.from}&to=${edges.to}`;
});
afterAll(async () => {
  await gateway.stop();
  await tools.stop();
  await world.end();
  rmSync(folder, { recursive: true });
});

const file = (name: string, text: string) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
async function document(path: string, body?: object, client: AdminClient = owner): Promise<{ status: number; text: string }> {
  const answer = await fetch(gateway.adminUrl + path, {
    headers: { authorization: `Bearer ${client.token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
  });
  return { status: answer.status, text: await answer.text() };
}
async function all(path: string, key: string): Promise<any[]> {
  const items: any[] = [];
  for (;;) {
    const page = await owner.get(`${path}${path.includes("?") ? "&" : "?"}limit=200&offset=${items.length}`);
    items.push(...page[key]);
    if (items.length >= page.total) return items;
  }
}

/** The input of the recount: exported rows and checkpoints, the admin log, and the configuration as listed by the API. */
async function exportAll(): Promise<void> {
  file("rows.jsonl", (await document("/v1/admin/proxy-logs/export", { format: "jsonl" })).text);
  file("log.json", JSON.stringify(await all("/v1/admin/admin-log", "entries")));
  const times: string[] = [];
  for (const { chain_id: chain } of (await system.get("/v1/admin/audit/chains")).chains) {
    const { text } = await document(`/v1/admin/audit/chains/${chain}/export`, undefined, system);
    for (const line of text.split("\n").filter((one) => one.includes('"checkpoint"'))) {
      const told = JSON.parse(line);
      if (told.type === "checkpoint") times.push(/^time (.*)$/m.exec(told.note)?.[1] ?? "");
    }
  }
  file("checkpoints.json", JSON.stringify(times));
  const groups = await all("/v1/admin/resource-groups", "resource_groups");
  const keys = [];
  for (const { id } of groups) keys.push(...(await all(`/v1/admin/resource-groups/${id}/api-keys`, "api_keys")));
  const { ai_systems: systems } = await owner.get("/v1/admin/ai-systems");
  const stateOf = new Map(systems.map((one: any) => [one.id, one.lifecycle_state]));
  const configuration = {
    ...edges,
    tenant_id: "default",
    tenant: await system.get("/v1/admin/tenants/default"),
    groups: groups.map((group) => ({ ...group, lifecycle_state: stateOf.get(group.id) ?? null })),
    guardrails: await all("/v1/admin/guardrails/configs", "configs"),
    admins: await all("/v1/admin/admin-users", "admin_users"),
    keys,
    limits: 1,
    turns: TURNS,
    told: [] as number[],
  };
  configuration.told = [
    ...Object.values(configuration.tenant.data_retention as Record<string, unknown>).filter(
      (days): days is number => typeof days === "number",
    ),
    ...[configuration.admins.length, groups.length, 183, 2192],
  ];
  file("configuration.json", JSON.stringify(configuration));
}

async function fetchReports(): Promise<Record<string, any>> {
  const frameworks: Record<string, unknown> = {};
  for (const [framework, path] of Object.entries(PATHS)) frameworks[framework] = await owner.get(`${PATH}/${path}?${window}`);
  return {
    frameworks,
    dashboard: await owner.get(`${PATH}/dashboard?${window}`),
    residency: await owner.get(`${PATH}/residency?${window}`),
  };
}

function recount(reports: unknown): { counted: number; nonzero: number; differences: any[] } {
  file("reports.json", JSON.stringify(reports));
  return JSON.parse(spawnSync("node", [RECOUNT, folder], { maxBuffer: 1e9 }).stdout.toString());
}

test("an independent program recounts every number of every report from an export, and detects a wrong one", async () => {
  await exportAll();
  const reports = await fetchReports();
  const { counted, nonzero, differences } = recount(reports);
  expect(differences).toEqual([]);
  expect(counted).toBeGreaterThan(110);
  expect(nonzero).toBeGreaterThan(100);
  for (const wrong of [
    (copy: any) => copy.frameworks.soc2.items[0].evidence[0].count++,
    (copy: any) => copy.frameworks.gdpr_art_30.table[0].calls++,
    (copy: any) => copy.frameworks.soc2.items.push({ ...copy.frameworks.soc2.items[0], control: "of tomorrow" }),
    (copy: any) => copy.residency.places[0].calls++,
    (copy: any) => copy.dashboard.frameworks[0].items++,
  ]) {
    const copy = structuredClone(reports);
    wrong(copy);
    expect(recount(copy).differences).not.toEqual([]);
  }
});

test("SOC 2 items state the status and reason that the audit rows show", async () => {
  const { items } = await owner.get(`${PATH}/${PATHS.soc2}?${window}`);
  const told = Object.fromEntries(items.map(({ control, status, reason }: any) => [control, `${status}: ${reason}`]));
  expect(told["CC6.1"]).toMatch(/^partial: .*administrators sign in with a password alone/);
  expect(told["A1.1"]).toMatch(/^met: .*refused 1 of \d+ calls/);
  expect(told["A1.2"]).toMatch(/^not_met: 3 of \d+ calls failed and 1 were cut off because a process ended/);
  expect(told["C1.1"]).toMatch(/^partial: .*of 1 in which personal data was found, 1 were blocked or redacted/);
  expect(told["C1.2"]).toMatch(/^met: Nothing is held longer/);
  const quiet = await owner.get(`${PATH}/${PATHS.soc2}?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z`);
  const statusOf = (control: string) => quiet.items.find((one: any) => one.control === control).status;
  for (const control of ["CC6.1", "A1.1", "A1.2", "C1.1", "C1.2"]) expect([control, statusOf(control)]).toEqual([control, "no_data"]);
});

/** Verifies without the gateway or its database. */
function verified(path: string, key: string) {
  const run = spawnSync("node", [join(ROOT, "bin/gatehouse.mjs"), "verify", "report", path, "--public-key", key], {
    cwd: folder,
    env: { PATH: process.env["PATH"], HOME: folder },
  });
  return { code: run.status, said: run.stdout.toString() };
}

test("a sealed report stays unchanged, verifies offline with the public key alone, and names no person", async () => {
  const report = () => document(`${PATH}/${PATHS.soc2}?${window}`);
  const before = await report();
  const seal = { framework: "soc2", ...edges };
  const sealed = await owner.request("POST", `${PATH}/reports`, seal);
  expect([sealed.status, sealed.body.report]).toEqual([201, JSON.parse(before.text)]);
  const again = await owner.request("POST", `${PATH}/reports`, seal);
  expect([again.status, again.body.existing_id]).toEqual([409, sealed.body.id]);

  const { configs } = await owner.get("/v1/admin/guardrails/configs");
  await owner.request("PATCH", `/v1/admin/guardrails/configs/${configs[0].id}`, { enabled: false });
  expect((await report()).text).toBe(before.text);
  const later = { from: edges.from, to: new Date(Date.parse(edges.to) + 1).toISOString() };
  const live = await owner.get(`${PATH}/${PATHS.soc2}?from=${later.from}&to=${later.to}`);
  expect(live.items.find(({ control }: any) => control === "CC6.6").status).toBe("not_met");

  const { text: exported } = await document(`${PATH}/reports/${sealed.body.id}/export`);
  expect((await document(`${PATH}/reports/${sealed.body.id}/export`)).text).toBe(exported);
  const { keys } = await system.get("/v1/admin/audit/keys");
  const key = file("key", keys[0].public_key);
  const good = verified(file("report.json", exported), key);
  expect([good.code, good.said.split("\n")[0]]).toEqual([0, `valid: soc2 of tenant default, ${edges.from} to ${edges.to}`]);
  expect(good.said).toContain(`sha256:${sealed.body.digest}`);
  const [chain] = (await system.get("/v1/admin/audit/chains")).chains;
  expect(good.said).toContain(`of chain ${chain.chain_id}`);

  const envelope = JSON.parse(exported);
  const payload = Buffer.from(envelope.payload, "base64");
  const schema = await owner.get("/v1/admin/standards/compliance-report/schema");
  expect(new Ajv2020({ strict: false, validateFormats: false }).validate(schema, JSON.parse(payload.toString()))).toBe(true);
  const changed = (at: number) => {
    const bytes = Buffer.from(payload);
    bytes[at] = (bytes[at] as number) ^ 1;
    return JSON.stringify({ ...envelope, payload: bytes.toString("base64") });
  };
  const forged = { code: 2, said: "invalid: no signature of it is by a key that was given\n" };
  expect(verified(file("forged.json", changed(payload.length >> 1)), key)).toEqual(forged);
  const publicKeys = readPublicKeys(keys[0].public_key);
  expect(verifySealedReport(exported, publicKeys).verdict).toBe("valid");
  for (let at = 0; at < payload.length; at += 7) expect(verifySealedReport(changed(at), publicKeys).verdict).toBe("invalid");
  // A certificate is signed with the same key, but is not a sealed report.
  expect(verifyCertificate(exported, publicKeys, Date.now()).verdict).toBe("invalid");
  const other = generateKeyPairSync("ed25519").publicKey.export({ type: "spki", format: "pem" }).toString();
  expect(verified(join(folder, "report.json"), file("other.pem", other)).code).toBe(2);
  const health = await owner.post(`${PATH}/reports`, { framework: "hipaa", ...edges });
  expect(JSON.stringify(health)).not.toContain("patient");
  expect(health.report.table.some(({ user_id: user }: any) => /^sha256:[0-9a-f]{64}$/.test(user))).toBe(true);
  const listed = await owner.get(`${PATH}/reports`);
  expect(listed.reports.map(({ id }: any) => id)).toEqual([health.id, sealed.body.id]);
  expect((await owner.get(`${PATH}/reports?framework=hipaa`)).total).toBe(1);
  const entries = (await owner.get(`/v1/admin/admin-log?resource=compliance-reports`)).entries;
  expect(entries.map(({ action, resource_id: id }: any) => [action, id])).toEqual([
    ["seal", health.id],
    ["seal", sealed.body.id],
  ]);

  await system.post("/v1/admin/tenants", { id: "others", name: "others" });
  const stranger = { tenant_id: "others", username: "stranger", password: ADMIN_PASSWORD };
  await system.post("/v1/admin/admin-users", { ...stranger, role: "owner" });
  const outside = await signIn(gateway.adminUrl, stranger, "tenant");
  expect((await outside.request("GET", `${PATH}/reports/${health.id}`)).status).toBe(404);
  expect((await outside.get(`${PATH}/reports`)).total).toBe(0);
  const refused = await owner.request("POST", `${PATH}/reports`, { framework: "soc2", to: "2999-01-01T00:00:00Z" });
  expect([refused.status, refused.body.fields[0].field]).toEqual([400, "to"]);
});
