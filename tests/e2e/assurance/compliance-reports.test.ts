import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AdminClient, rowOf, rowsOf, signIn } from "../../support/worlds/admin.ts";
import { ADMIN_PASSWORD } from "../../support/gateway.ts";
import { startScriptedToolServer } from "../../support/tool-servers/scripted-tool-server.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";
import { grant, newTeam, post, stateless, type Team } from "../tools/mcp-harness.ts";

/** Reports over a ledger: each of their numbers is recounted from an export. */
let world: World;
let owner: AdminClient;
let other: AdminClient;
let clinic: Team;
let ward: Team;
let office: Team;
const PATH = "/v1/admin/compliance";
const REPORTS = ["soc2/control-coverage", "eu-ai-act/risk-classification", "hipaa/phi-access", "gdpr/article-30", "iso-42001/activity"];
const FRAMEWORKS = ["eu_ai_act", "gdpr_art_30", "hipaa", "iso_42001", "soc2"];

beforeAll(async () => {
  world = await startWorld();
  const { admin } = world;
  const account = { tenant_id: "default", username: "reporter", password: ADMIN_PASSWORD };
  await admin.post("/v1/admin/admin-users", { ...account, role: "owner" });
  owner = await signIn(world.gateway.adminUrl, account, "tenant");
  await admin.post("/v1/admin/tenants", { id: "others", name: "others" });
  await admin.post("/v1/admin/admin-users", { ...account, tenant_id: "others", role: "owner" });
  other = await signIn(world.gateway.adminUrl, { ...account, tenant_id: "others" }, "tenant");
  clinic = await newTeam(admin, "clinic", { phi_resource: true, eu_ai_act_risk_tier: "high" });
  ward = await newTeam(admin, "ward", { parent_group_id: clinic.groupId });
  office = await newTeam(admin, "=office");
  await owner.post("/v1/admin/providers", { provider_key: "own-echo", api_format: "echo" });
  const groups = [clinic, ward, office].map(({ groupId }) => groupId);
  await owner.post("/v1/admin/llms", { name: "answers", provider: "own-echo", group_ids: groups });
});
afterAll(() => world.end());

/** Calls a model and resolves with the ID of its row. */
async function ask(team: Team, model = "answers"): Promise<string> {
  const answer = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": team.apiKey },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "hi" }] }),
  });
  await answer.body?.cancel();
  return answer.headers.get("x-request-id") as string;
}

const tagsOf = async (id: string): Promise<unknown> => (await rowOf(owner, { id })).compliance_tags;
async function setProfile(frameworks: readonly string[]): Promise<void> {
  expect((await owner.request("PATCH", `${PATH}/profile`, { frameworks })).status).toBe(200);
}
async function raw(path: string, client = owner as AdminClient & { token?: string }): Promise<{ status: number; text: string }> {
  const answer = await fetch(world.gateway.adminUrl + path, { headers: { authorization: `Bearer ${client.token}` } });
  return { status: answer.status, text: await answer.text() };
}

test("audit rows carry the tags of the compliance profile's frameworks, and none without a profile", async () => {
  expect(await tagsOf(await ask(clinic))).toBeNull();
  await setProfile(FRAMEWORKS);
  expect((await owner.get(`${PATH}/profile`)).frameworks.toSorted()).toEqual(FRAMEWORKS);
  const inForce = () =>
    until(
      async () => tagsOf(await ask(office)),
      (tags) => tags !== null,
    );
  expect(await inForce()).toEqual([]);
  expect(await tagsOf(await ask(clinic))).toEqual(["eu_ai_act:high_risk", "hipaa:phi_access"]);
  expect(await tagsOf(await ask(ward))).toEqual(["eu_ai_act:high_risk", "hipaa:phi_access"]);
});

test("every number in a report matches an export, and the same window yields the same bytes", async () => {
  await ask(ward);
  await ask(office, "no such model");
  await rowsOf(owner, { resource_group_id: ward.groupId }, 2);
  await rowsOf(owner, { resource_group_id: office.groupId }, 2);
  const window = `from=2026-01-01T00:00:00Z&to=${new Date().toISOString()}`;
  const exported = await fetch(`${world.gateway.adminUrl}/v1/admin/proxy-logs/export`, {
    method: "POST",
    headers: { authorization: `Bearer ${(owner as any).token}`, "content-type": "application/json" },
    body: JSON.stringify({ format: "jsonl" }),
  });
  const rows: any[] = (await exported.text())
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const firstOf = (found: any[]) => ({ count: found.length, ref: found.map(({ id }) => id).toSorted()[0] ?? null });
  const report = (path: string) => owner.get(`${PATH}/${path}?${window}`);
  const evidence = (body: any, control: string) => body.items.find((item: any) => item.control === control).evidence;

  const soc2 = await report("soc2/control-coverage");
  expect(evidence(soc2, "CC6.1").slice(0, 2)).toEqual([
    { kind: "audit_rows", ...firstOf(rows) },
    { kind: "audit_rows", ...firstOf(rows.filter(({ http_status_code: status }) => status === 401 || status === 403)) },
  ]);
  expect(evidence(soc2, "A1.2")[0]).toMatchObject(firstOf(rows.filter(({ http_status_code: status }) => status >= 500)));
  const log = await owner.get(`/v1/admin/admin-log?limit=1&${window}`);
  expect(evidence(soc2, "CC8.1")[0].count).toBe(log.total);

  const hipaa = await report("hipaa/phi-access");
  const health = rows.filter(({ resource_group_id: id }) => id === clinic.groupId || id === ward.groupId);
  expect(evidence(hipaa, "164.312(a)(2)(i)")[0]).toMatchObject(firstOf(health));
  for (const line of hipaa.table)
    expect(line.calls).toBe(health.filter((row) => row.resource_group_id === line.group_id && row.api_key_id === line.api_key_id).length);

  const aiAct = await report("eu-ai-act/risk-classification");
  for (const line of aiAct.table) expect(line.calls).toBe(rows.filter((row) => row.resource_group_id === line.group_id).length);
  expect(aiAct.table.find((line: any) => line.group_id === clinic.groupId)).toMatchObject({
    risk_tier: "high",
    applies_from: "2027-12-02",
  });
  // As in its rows: a group without a tier inherits its parent's.
  expect(aiAct.table.find((line: any) => line.group_id === ward.groupId).risk_tier).toBe("high");

  const gdpr = await report("gdpr/article-30");
  // No region restrictions exist, so it is unknown whether data went to a third country.
  expect(gdpr.items.find((item: any) => item.control === "Article 30(1)(e)").status).toBe("no_data");
  const received = rows.filter((row) => (row.llm_provider ?? null) !== null);
  expect(gdpr.table.reduce((sum: number, line: any) => sum + line.calls, 0)).toBe(received.length);
  const iso = await report("iso-42001/activity");
  for (const line of iso.table)
    expect(line.calls).toBe(rows.filter((row) => row.proxy_type === line.proxy_type && (row.success ?? false) === line.success).length);

  for (const path of REPORTS)
    for (const format of ["json", "csv"]) {
      const first = await raw(`${PATH}/${path}?${window}&format=${format}`);
      expect(first.status).toBe(200);
      expect((await raw(`${PATH}/${path}?${window}&format=${format}`)).text).toBe(first.text);
    }
  expect((await raw(`${PATH}/eu-ai-act/risk-classification?${window}&format=csv`)).text).toContain(`"'=office"`);
  const board = await owner.get(`${PATH}/dashboard?${window}`);
  const told = board.frameworks.find(({ framework }: any) => framework === "soc2");
  expect(told).toMatchObject({ enabled: true, items: soc2.items.length });
});

test("a tool server that was only named or whose calls were refused is not listed as a recipient", async () => {
  const server = startScriptedToolServer("stateless", (message) =>
    message?.method === "tools/call" ? { resultType: "complete", content: [] } : undefined,
  );
  const make = async (name: string, groups: readonly string[]) => {
    const { id } = await owner.post("/v1/admin/mcp-servers", { name, base_url: server.baseUrl, mcp_endpoint_path: `/${name}` });
    await grant(owner, name, id, groups);
    return id as string;
  };
  const asked = await make("asked", [office.groupId]);
  const denied = await make("denied", [clinic.groupId]);
  const call = (id: string) =>
    post(`${world.gateway.runtimeUrl}/v1/proxy/mcp/${id}`, office.apiKey, stateless(id, "tools/call", { name: "open", arguments: {} }));
  const statuses = [];
  for (const id of ["nowhere-at-all", denied, asked]) statuses.push((await call(id)).status);
  expect(statuses).toEqual([404, 403, 200]);
  await rowOf(owner, { server_id: asked, mcp_request_id: asked });
  const window = `from=2026-01-01T00:00:00Z&to=${new Date().toISOString()}`;
  const { table } = await owner.get(`${PATH}/gdpr/article-30?${window}`);
  const { places } = await owner.get(`${PATH}/residency?${window}`);
  for (const lines of [table, places] as any[][])
    expect(lines.filter(({ kind }) => kind === "tool_server").map(({ recipient, calls }) => [recipient, calls])).toEqual([[asked, 1]]);
  await server.stop();
});

test("the tenant's own statements appear in its record of processing as written, and not in another tenant's", async () => {
  const items = async (client = owner) => (await client.get(`${PATH}/gdpr/article-30`)).items.slice(0, 3);
  expect((await items()).map(({ status }: any) => status)).toEqual(["no_data", "no_data", "no_data"]);
  const statements = {
    controller: "Clinic <b>GmbH</b>, Bonn",
    data_protection_officer: null,
    purposes: "Triage",
    data_subjects: "Patients",
    personal_data: "Symptoms",
  };
  expect((await owner.request("PATCH", `${PATH}/gdpr/statements`, statements)).body).toEqual(statements);
  expect(await owner.get(`${PATH}/gdpr/statements`)).toEqual(statements);
  const [controller, purposes, categories] = await items();
  expect([controller.status, purposes.status, categories.status]).toEqual(["partial", "met", "met"]);
  expect(controller.reason).toContain("Clinic <b>GmbH</b>, Bonn");
  expect(categories.reason).toContain("Patients; personal data: Symptoms");
  expect((await items(other)).map(({ status }: any) => status)).toEqual(["no_data", "no_data", "no_data"]);
  const missing = await owner.request("PATCH", `${PATH}/gdpr/statements`, { controller: "x" });
  expect([missing.status, missing.body.fields.length]).toEqual([400, 4]);
});

test("reports show nothing of another tenant, and an invalid window is refused with the field named", async () => {
  const window = `from=2026-01-01T00:00:00Z&to=${new Date().toISOString()}`;
  expect(await other.get(`${PATH}/profile`)).toEqual({ frameworks: [] });
  for (const path of REPORTS) {
    const text = (await raw(`${PATH}/${path}?${window}`, other as never)).text;
    for (const team of [clinic, ward, office]) expect(text).not.toContain(team.groupId);
  }
  expect((await other.get(`${PATH}/iso-42001/activity?${window}`)).table).toEqual([]);
  const refused = async (query: string) => JSON.stringify(await owner.request("GET", `${PATH}/soc2/control-coverage?${query}`));
  expect(await refused("to=2999-01-01T00:00:00Z")).toContain('"to"');
  expect(await refused("from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z")).toContain('"from"');
  expect(await refused("from=2020-01-01T00:00:00Z&to=2026-01-01T00:00:00Z")).toContain("400 days");
  expect((await owner.request("PATCH", `${PATH}/profile`, { frameworks: ["soc2", "soc2"] })).status).toBe(400);
  await setProfile([]);
});

test("no item is met by an admin log without entries, and none with entries is said to be empty", async () => {
  const window = `from=2026-01-01T00:00:00Z&to=${new Date().toISOString()}`;
  for (const path of REPORTS)
    for (const { control, status, reason, evidence } of (await owner.get(`${PATH}/${path}?${window}`)).items) {
      const entries = evidence.filter(({ kind }: any) => kind === "admin_log");
      const count = entries.reduce((sum: number, one: any) => sum + one.count, 0);
      if (entries.length === evidence.length && entries.length > 0)
        expect([control, status === "met" && count === 0]).toEqual([control, false]);
      if (count > 0) expect([control, reason.includes("holds nothing")]).toEqual([control, false]);
    }
  // Annex A has 38 controls, and an auditor asks about each.
  expect((await owner.get(`${PATH}/iso-42001/activity?${window}`)).items.length).toBe(38);
});

test("administrators with local passwords disabled are not counted as signing in without a second factor", async () => {
  const withoutSecondFactor = async () => {
    const { items } = await other.get(`${PATH}/soc2/control-coverage`);
    const { evidence } = items.find(({ control }: any) => control === "CC6.1");
    return evidence.find(({ ref }: any) => ref === "admin-users without second factor").count;
  };
  const glass = { tenant_id: "others", username: "glass", password: ADMIN_PASSWORD, role: "owner", break_glass: true };
  await world.admin.post("/v1/admin/admin-users", glass);
  expect(await withoutSecondFactor()).toBe(2);
  await world.admin.request("PATCH", "/v1/admin/tenants/others", { local_passwords: false });
  // Ends the sessions of all other administrators who have a password.
  other = await signIn(world.gateway.adminUrl, { username: "glass", password: ADMIN_PASSWORD, tenant_id: "others" }, "tenant");
  expect(await withoutSecondFactor()).toBe(1);
});

test("under a profile, rows of refused callers, of people in no group and of spans carry tags too", async () => {
  await setProfile(FRAMEWORKS);
  await until(
    async () => tagsOf(await ask(office)),
    (tags) => tags !== null,
  );
  const { runtimeUrl } = world.gateway;
  const send = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(runtimeUrl + path, {
      method: "POST",
      headers: { "content-type": "application/json", "x-tenant-id": "default", ...headers },
      body: JSON.stringify(body),
    });
  const tagsAfter = async (answer: Response) => tagsOf(answer.headers.get("x-request-id") as string);
  const person = { username: "outsider", password: "a long password" };
  await owner.post("/v1/admin/end-users", person);
  const revoked = await owner.post(`/v1/admin/resource-groups/${office.groupId}/api-keys`, { name: "revoked" });
  await owner.request("DELETE", `/v1/admin/api-keys/${revoked.id}`);
  const chat = { model: "answers", messages: [{ role: "user", content: "hi" }] };
  const path = "/v1/proxy/llm/chat/completions";

  expect(await tagsAfter(await send("/v1/portal/auth/login", { ...person, password: "a wrong password" }))).toEqual([]);
  expect(await tagsAfter(await send(path, chat))).toEqual([]);
  expect(await tagsAfter(await send(path, chat, { "x-api-key": `sk_gw_api_${"x".repeat(43)}` }))).toEqual([]);
  expect(await tagsAfter(await send(path, chat, { "x-api-key": revoked.key }))).toEqual([]);
  const signedIn = await send("/v1/portal/auth/login", person);
  const { access_token: token } = (await signedIn.json()) as { access_token: string };
  expect(await tagsAfter(await send(path, chat, { authorization: `Bearer ${token}` }))).toEqual([]);

  const span = {
    traceId: "5b8efff798038103d269b633813fc60c",
    spanId: "eee19b7ec3c1b174",
    name: "chat",
    startTimeUnixNano: `${Date.now()}000000`,
    endTimeUnixNano: `${Date.now()}000000`,
  };
  const traces = { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] };
  const reported = await send("/v1/ingest/otel/v1/traces", traces, { "x-api-key": clinic.apiKey });
  expect(reported.status).toBe(200);
  const [row] = await rowsOf(owner, { source: "otel" }, 1);
  expect(row.compliance_tags).toEqual(["eu_ai_act:high_risk", "hipaa:phi_access"]);

  await other.post("/v1/admin/end-users", person);
  const elsewhere = await send("/v1/portal/auth/login", { ...person, password: "a wrong password" }, { "x-tenant-id": "others" });
  expect((await rowOf(other, { id: elsewhere.headers.get("x-request-id") as string })).compliance_tags).toBeNull();
});
