import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AdminClient, signIn } from "../../support/worlds/admin.ts";
import { testDatabase, type TestDatabase } from "../../support/database.ts";
import { type FakeUpstream, startFakeUpstream } from "../../support/vendors/fake-upstream.ts";
import { type GatewayProcess, removeDirectory, startGateway } from "../../support/gateway.ts";
import { startStatelessServer, type ToolServerFixture } from "../../support/tool-servers/tool-servers.ts";
import { leastOf } from "../../support/until.ts";
import { grant, newTeam, post, stateless, type Team } from "../tools/mcp-harness.ts";

/**
 * Every admin change is in force on every process within a second of its answer: each kind of change that affects calls is made and undone
 * at one of several processes and observed by calls at all of them.
 */
const PROCESSES = 3;
const WITHIN_MS = 1_000;
const TRIES = 4;
let database: TestDatabase;
const gateways: GatewayProcess[] = [];
let admin: AdminClient;
let team: Team;
let tools: ToolServerFixture;
let upstream: FakeUpstream;
let server: string;
let model: string;
let provider: string;
let access: string;
const records: Record<string, string> = {};

const tenant = { tenant_id: "default" };
const GROUPS = "/v1/admin/resource-groups";

beforeAll(async () => {
  database = await testDatabase();
  for (let one = 0; one < PROCESSES; one++) gateways.push(await startGateway({ databaseUrl: database.url }));
  admin = await signIn((gateways[0] as GatewayProcess).adminUrl);
  tools = startStatelessServer();
  upstream = startFakeUpstream();
  team = await newTeam(admin, "system");
  provider = (
    await admin.post("/v1/admin/providers", {
      ...tenant,
      provider_key: "fake",
      api_format: "openai",
      base_url: upstream.baseUrl,
      api_key: "sk-upstream",
      region: "eu",
    })
  ).id;
  model = (await admin.post("/v1/admin/llms", { ...tenant, name: "m", model_name: "fake-1", provider: "fake", group_ids: [team.groupId] }))
    .id;
  server = (await admin.post("/v1/admin/mcp-servers", { ...tenant, name: "desk", base_url: tools.baseUrl })).id;
  access = (await grant(admin, "desk for all", server, [team.groupId])).id;
  await admin.post("/v1/admin/ai-systems", { ...tenant, group_id: team.groupId });
  records["key"] = (await admin.post(`${GROUPS}/${team.groupId}/api-keys`, { name: "another", access_mode: "shared" })).id;
});
afterAll(async () => {
  await tools.stop();
  await upstream.stop();
  for (const gateway of gateways) {
    await gateway.stop();
    await removeDirectory(gateway.dataDir);
  }
  await database.close();
});

async function ask({ runtimeUrl }: GatewayProcess, key = team.apiKey): Promise<string> {
  const answer = await fetch(`${runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": key },
    body: JSON.stringify({ model: "m", temperature: 1, messages: [{ role: "user", content: "project titan" }] }),
  });
  await answer.text();
  return String(answer.status);
}

/** The refusal's code, or else the tool's answer. */
async function useTool({ runtimeUrl }: GatewayProcess): Promise<string> {
  const message = stateless(1, "tools/call", { name: "echo", arguments: { text: "rm -rf / && ls" } });
  const { status, body } = await post(`${runtimeUrl}/v1/proxy/mcp/${server}`, team.apiKey, message);
  return body?.error === undefined ? String(status) : String(body.error.data?.code ?? body.error.code ?? status);
}

type Probe = (gateway: GatewayProcess) => Promise<string>;

/** Milliseconds from the admin's answer until newly begun calls observe the change, at the slowest process. */
async function observedAfterMs(what: string, probe: Probe, isObserved: (answer: string) => boolean): Promise<number> {
  const since = performance.now();
  const each = gateways.map(async (gateway) => {
    for (;;) {
      const began = performance.now();
      const answer = await probe(gateway);
      if (isObserved(answer)) return began - since;
      if (began - since > 30_000) throw new Error(`${what}: a process still answers ${answer}`);
    }
  });
  return Math.max(...(await Promise.all(each)));
}

const patch = (path: string, body: object) => async () => {
  const { status, body: said } = await admin.request("PATCH", path, body);
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(said)}`);
};
const put = (path: string, body: object) => async () => {
  const { status, body: said } = await admin.request("PUT", path, body);
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(said)}`);
};
const made = (name: string, path: string, body: () => object) => async () => {
  records[name] = (await admin.post(path, { ...tenant, ...body() })).id;
};
const removed = (name: string, path: string) => async () => {
  expect((await admin.request("DELETE", `${path}/${records[name]}`)).status).toBe(204);
};

interface Kind {
  readonly name: string;
  readonly probe?: Probe;
  readonly change: () => Promise<void>;
  readonly back: () => Promise<void>;
}
const system = (rest: string) => `/v1/admin/ai-systems/${team.groupId}${rest}`;
const group = (rest = "") => `${GROUPS}/${team.groupId}${rest}`;
/** Each kind: a change that refuses calls, and its reversal that lets them pass again. */
const KINDS: readonly (() => Kind)[] = [
  () => ({
    name: "envelope suspended",
    change: put(system("/envelope"), { autonomy_level: "suspended" }),
    back: put(system("/envelope"), {}),
  }),
  () => ({
    name: "envelope restricted",
    change: put(system("/envelope"), { autonomy_level: "restricted", restrictions: { model_ids: [] } }),
    back: put(system("/envelope"), {}),
  }),
  () => ({
    name: "envelope approval_required",
    probe: useTool,
    change: put(system("/envelope"), { autonomy_level: "approval_required" }),
    back: put(system("/envelope"), {}),
  }),
  () => ({
    name: "model switched off",
    change: patch(`/v1/admin/llms/${model}`, { enabled: false }),
    back: patch(`/v1/admin/llms/${model}`, { enabled: true }),
  }),
  () => ({
    name: "model taken from the group",
    change: async () => void (await admin.request("DELETE", group("/llm-models"), { model_ids: [model] })),
    back: async () => void (await admin.post(group("/llm-models"), { model_ids: [model] })),
  }),
  () => ({
    name: "provider switched off",
    change: patch(`/v1/admin/providers/${provider}`, { enabled: false }),
    back: patch(`/v1/admin/providers/${provider}`, { enabled: true }),
  }),
  () => ({
    name: "limits of the group",
    change: patch(group("/llm-global-limits"), { llm_global_limits: { requests: { daily_limit: 1 } } }),
    back: patch(group("/llm-global-limits"), { llm_global_limits: {} }),
  }),
  () => ({
    name: "parameter governance",
    change: patch(group("/llm-global-governance"), { governance: { temperature: { max: 0.5, enforce: "reject" } } }),
    back: patch(group("/llm-global-governance"), { governance: {} }),
  }),
  () => ({
    name: "guardrail",
    change: made("guardrail", "/v1/admin/guardrails/configs", () => ({
      name: "no titan",
      builtin: { banned_words: ["titan"] },
      group_ids: [team.groupId],
    })),
    back: removed("guardrail", "/v1/admin/guardrails/configs"),
  }),
  () => ({
    name: "regions of the tenant",
    change: patch("/v1/admin/tenants/default", { allowed_regions: ["us"] }),
    back: patch("/v1/admin/tenants/default", { allowed_regions: [] }),
  }),
  () => ({
    name: "tenant switched off",
    change: patch("/v1/admin/tenants/default", { enabled: false }),
    back: patch("/v1/admin/tenants/default", { enabled: true }),
  }),
  () => ({
    name: "tool server switched off",
    probe: useTool,
    change: patch(`/v1/admin/mcp-servers/${server}`, { enabled: false }),
    back: patch(`/v1/admin/mcp-servers/${server}`, { enabled: true }),
  }),
  () => ({
    name: "tools of a grant",
    probe: useTool,
    change: patch(`/v1/admin/server-configs/${access}`, { enabled_tools: ["many"] }),
    back: patch(`/v1/admin/server-configs/${access}`, { enabled_tools: null }),
  }),
  () => ({
    name: "argument policy",
    probe: useTool,
    change: made("policy", "/v1/admin/argument-policies", () => ({
      ...{ name: "no chains", target: "echo", argument_key: "text", analyzer: "shell", group_ids: [team.groupId] },
      rules: [{ deny_if: "chaining", message: "No." }],
    })),
    back: removed("policy", "/v1/admin/argument-policies"),
  }),
];

const slowest = new Map<string, number>();

test("each kind of admin change takes effect on every process within a second, and so does its reversal", async () => {
  const isAnswered = (answer: string) => answer === "200";
  for (const kind of KINDS.map((of) => of())) {
    const probe = kind.probe ?? ask;
    await observedAfterMs(kind.name, probe, isAnswered);
    // On a busy machine one attempt proves little; what never takes less than a second is too slow.
    for (let attempt = 1; attempt <= TRIES; attempt++) {
      await kind.change();
      const held = await observedAfterMs(kind.name, probe, (answer) => !isAnswered(answer));
      await kind.back();
      const whole = Math.max(held, await observedAfterMs(kind.name, probe, isAnswered));
      slowest.set(kind.name, Math.min(whole, slowest.get(kind.name) ?? whole));
      if (whole < WITHIN_MS) break;
    }
  }
  console.log(JSON.stringify(Object.fromEntries([...slowest].map(([name, ms]) => [name, Math.round(ms)]))));
  expect([...slowest].filter(([, ms]) => ms >= WITHIN_MS)).toEqual([]);
});

let teams = 0;

test("a revoked API key is refused on every process within a second", async () => {
  const ms = await leastOf(TRIES, WITHIN_MS, async () => {
    const other = await newTeam(admin, `another ${++teams}`);
    await admin.post(`${GROUPS}/${other.groupId}/llm-models`, { model_ids: [model] });
    const probe: Probe = (gateway) => ask(gateway, other.apiKey);
    await observedAfterMs("key", probe, (answer) => answer === "200");
    expect((await admin.request("DELETE", `/v1/admin/api-keys/${other.apiKeyId}`)).status).toBeLessThan(300);
    return observedAfterMs("key revoked", probe, (answer) => answer === "401");
  });
  console.log(`key revoked: ${Math.round(ms)} ms`);
  expect(ms).toBeLessThan(WITHIN_MS);
});
