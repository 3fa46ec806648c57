import { afterAll, beforeAll, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { configCommand } from "../../../server/cli/config.ts";
import type { AdminClient } from "../../support/worlds/admin.ts";
import { ADMIN_PASSWORD, removeDirectory, temporaryDirectory } from "../../support/gateway.ts";
import { startWorld, type World } from "../../support/world.ts";

/**
 * One record of every kind, with every kind of credential, created through one gateway's admin API and transferred to another as a file.
 */
let from: World;
let to: World;
let directory: string;

beforeAll(async () => {
  [from, to, directory] = await Promise.all([startWorld(), startWorld(), temporaryDirectory()]);
});
afterAll(async () => {
  await Promise.all([from.end(), to.end()]);
  await removeDirectory(directory);
});

async function config(world: World, args: readonly string[], env: Record<string, string> = {}) {
  const told = { out: "", err: "" };
  const io = { stdout: (text: string) => void (told.out += text), stderr: (text: string) => void (told.err += text) };
  const variables = { GATEHOUSE_ADMIN_PASSWORD: ADMIN_PASSWORD, ...env } as Record<string, string>;
  return { code: await configCommand([...args, "--url", world.gateway.adminUrl], variables, io), ...told };
}

const NOWHERE = "http://127.0.0.1:9";
const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const KEY_FILE = JSON.stringify({
  type: "service_account",
  client_email: "gateway@project.iam.example",
  private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
  token_uri: `${NOWHERE}/token`,
});

const PROVIDERS = [
  {
    provider_key: "openai",
    api_format: "openai",
    api_key: "sk-openai-secret-01",
    pass_request_headers: ["x-mine-*"],
    batch_mode: "provider",
  },
  { provider_key: "anthropic", api_format: "anthropic", base_url: NOWHERE, api_key: "sk-anthropic-secret-02" },
  { provider_key: "gemini", api_format: "gemini", base_url: NOWHERE, api_key: "gemini-secret-03", headers: { "x-mine": "1" } },
  { provider_key: "azure", api_format: "azure_openai", base_url: `${NOWHERE}/openai?api-version=2024-10-21`, api_key: "azure-secret-04" },
  { provider_key: "speech", api_format: "azure_speech", base_url: NOWHERE, api_key: "speech-secret-05", region: "eu" },
  {
    ...{ provider_key: "bedrock", api_format: "bedrock", base_url: "https://bedrock-runtime.eu-west-1.amazonaws.com" },
    ...{ api_key: "AKIAEXAMPLE:bedrock-secret-06", batch_mode: "provider", storage_uri: "s3://bucket/prefix" },
    storage_role_arn: "arn:aws:iam::123456789012:role/batches",
  },
  {
    ...{ provider_key: "vertex", api_format: "vertex", base_url: `${NOWHERE}/v1/projects/p/locations/eu`, api_key: KEY_FILE },
    ...{ batch_mode: "provider", storage_uri: "gs://bucket", storage_endpoint: NOWHERE },
  },
  { provider_key: "keyless", api_format: "openai", base_url: NOWHERE, max_tokens_parameter: "max_completion_tokens", enabled: false },
  { provider_key: "mirror", api_format: "echo" },
];

const OAUTH_CLIENT = { token_url: `${NOWHERE}/token`, client_id: "gateway", client_secret: "agent-secret-07", scope: "tasks:write read" };
const AGENTS = [
  { card_name: "open", auth_type: "none" },
  { card_name: "keyed", auth_type: "api_key", credentials: { value: "agent-secret-08", header: "X-Agent-Key" }, direction: "inbound" },
  { card_name: "bearing", auth_type: "bearer", credentials: { value: "agent-secret-09" }, skills_allowed: ["one"] },
  { card_name: "client", auth_type: "oauth_client", credentials: OAUTH_CLIENT },
];

const NOTHING_SAID = { data_protection_officer: null, purposes: null, data_subjects: null, personal_data: null };

async function makeEverything({ get, post, request }: AdminClient, skill: string) {
  const make = async (path: string, body: object): Promise<string> => (await post(`/v1/admin/${path}`, body)).id;
  const write = async (method: string, path: string, body: object) => {
    const answer = await request(method, `/v1/admin/${path}`, body);
    if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
  };
  const document = async (group: string, path: string, body: object) => {
    const answer = await request("PATCH", `/v1/admin/resource-groups/${group}/${path}`, body);
    if (answer.status !== 200) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
  };
  const company = await make("resource-groups", { name: "company", group_type: "organization", eu_ai_act_risk_tier: "limited" });
  const team = await make("resource-groups", { name: "team", parent_group_id: company, display_name: "Team", phi_resource: false });
  const people = await make("end-user-groups", { name: "people", description: "All\nof them" });
  for (const provider of PROVIDERS) await make("providers", provider);
  await make("llm-router/routing-groups", { id: "smart", name: "Smart", routing_strategy: "cost-based", rpm_limit: 9, timeout: 30 });
  const model = await make("llms", {
    ...{
      name: "chat",
      model_name: "gpt-x",
      provider: "openai",
      api_key: "sk-model-secret-10",
      modes: ["chat", "responses"],
      group_ids: [team],
    },
    ...{
      routing_group_id: "smart",
      routing_weight: 0,
      fallback_on: ["context_window"],
      base_url: NOWHERE,
      input_cost_per_million_tokens: 0.25,
    },
    price_tiers: [{ above_input_tokens: 1000, input_cost_per_million_tokens: 3 }],
    price_changes: [{ effective_from: "2124-01-01T00:00:00Z", input_cost_per_million_tokens: 4 }],
    service_tier_prices: [
      { service_tier: "priority", input_cost_per_million_tokens: 5 },
      { service_tier: "flex", price_factor: 0.5 },
    ],
  });
  await make("llms", { name: "claude", provider: "vertex", api_key: KEY_FILE, base_url: `${NOWHERE}/v1/projects/p/locations/eu` });
  const embedder = await make("llms", { name: "embedder", provider: "bedrock", mode: "embedding", group_ids: [team] });
  await make("llms", { name: "painter", provider: "gemini", mode: "image", image_prices: [{ size: "1024x1024", usd: 0.04 }] });
  const base = await make("knowledgebases", { name: "handbook", embedding_model_id: embedder, indexing_group_id: team, group_ids: [team] });
  await request("PATCH", `/v1/admin/resource-groups/${team}`, { default_knowledgebase_ids: [base] });
  const git = { connector_type: "git", location: "https://git.example/team/handbook.git", credential: "reader:git-secret-11" };
  await make("kb-connectors", { name: "repository", knowledge_base_id: base, ...git });
  await make("kb-connectors", {
    name: "folder",
    knowledge_base_id: base,
    connector_type: "directory",
    location: "wiki",
    every_minutes: 60,
  });
  const searches = await post("/v1/admin/web-search", { name: "brave", kind: "brave", api_key: "search-secret-12", base_url: NOWHERE });
  const signing = { signing_secret: `whsec_${Buffer.from("a-secret-21 of 24 bytes!").toString("base64")}` };
  await make("webhooks", { name: "on call", url: "https://hooks.example/hook-secret-22", ...signing, events: ["alert.raised"] });
  await make("web-search", { name: "own", kind: "searxng", base_url: NOWHERE, priority: 5 });
  const server = async (name: string, given: object) => make("mcp-servers", { name, base_url: `${NOWHERE}/${name}`, ...given });
  const plain = await server("plain", { mcp_endpoint_path: "" });
  const bearing = await server("bearing", { auth_type: "bearer", api_key: "tools-secret-13", timeout: 5 });
  const personal = await server("personal", { auth_type: "oauth" });
  const oauth = { issuer: "https://accounts.example", client_id: "gateway", client_secret: "oauth-secret-19", scopes: ["calendar.read"] };
  await write("PUT", `mcp-servers/${personal}/oauth-client`, oauth);
  await make("server-configs", { name: "some", mcp_server_id: bearing, enabled_tools: ["a"], disabled_tools: ["*"], group_ids: [team] });
  await make("server-configs", { name: "asked", mcp_server_id: personal, approval_required_tools: ["*"], approver_group_ids: [company] });
  await make("server-configs", { name: "web", mcp_server_id: searches.server_id, group_ids: [company] });
  await make("virtual-servers", {
    name: "both",
    members: [{ mcp_server_id: plain, slug: "p" }, { mcp_server_id: bearing }],
    group_ids: [team],
  });
  const agents = [];
  for (const agent of AGENTS) agents.push(await make("agents", { name: `The ${agent.card_name}`, base_url: NOWHERE, ...agent }));
  await make("agent-grants", { agent_id: agents[3], group_ids: [team], decision: "approval_required", max_depth: 3, skill_ids: ["one"] });
  await make("agent-grants", { agent_id: agents[0], group_ids: [team, company], decision: "deny" });
  const engine = { endpoint: NOWHERE, api_key: "engine-secret-14" };
  await make("guardrails/configs", {
    ...{ name: "wall", group_ids: [team], surfaces: { chat_input: true, mcp_output: true } },
    builtin: { secrets_enabled: true, banned_patterns: ["tita+n"], pii_enabled: true, pii_categories: ["email"] },
    providers: [
      { provider: "webhook", ...engine },
      { provider: "guard_model", model: "chat" },
      { provider: "azure_content_safety", endpoint: NOWHERE, api_key: "engine-secret-15", action: "warn" },
      { provider: "bedrock_guardrails", endpoint: NOWHERE, api_key: "AKIAEXAMPLE:engine-secret-16", identifier: "g", version: "1" },
      { provider: "openai_moderation", api_key: "engine-secret-17", model: "omni" },
    ],
  });
  await make("guardrails/configs", { name: "everywhere", builtin: { jailbreak_enabled: true } });
  const rule = { deny_if: "writes", message: "No." };
  await make("argument-policies", {
    name: "reading",
    target: "run",
    argument_key: "sql",
    analyzer: "sql",
    dialect: "mysql",
    rules: [rule],
  });
  await make("argument-policies", {
    ...{ name: "shaped", target: "run", analyzer: "json_schema", schema: { type: "object" }, group_ids: [team] },
    rules: [{ deny_if: "invalid", message: "No." }],
  });
  const matches = { exact_match: { ttl_seconds: 60 }, semantic_match: { enabled: true, similarity_threshold: 0.9 } };
  await make("semantic-cache/configs", { name: "cache", embedding_model_id: embedder, ...matches, group_ids: [team], scope: "tenant" });
  await make("semantic-policies", {
    name: "kind",
    constraint_text: "Be kind.\nAlways.",
    judge_model_id: model,
    resource_group_ids: [team],
  });
  await make("semantic-policies", { name: "all", constraint_text: "Be brief.", mode: "shadow" });
  const oidc = { issuer: "https://issuer.example", client_id: "gatehouse", required_claims: { tid: ["t"] } };
  const mapped = [{ group: "builders", end_user_group_id: people }];
  await make("identity-providers", {
    name: "portal",
    kind: "oidc",
    audience: "portal",
    oidc,
    client_secret: "oidc-secret-18",
    group_mappings: mapped,
  });
  await make("identity-providers", {
    name: "admins",
    kind: "oidc",
    audience: "admin",
    oidc,
    group_mappings: [{ group: "g", role: "auditor" }],
  });
  await make("identity-providers", {
    ...{ name: "tokens", kind: "oidc", audience: "api", oidc: { ...oidc, client_id: null } },
    api: { audiences: ["gateway"], resource_group_id: team },
    group_mappings: [{ group: "g", resource_group_id: company }],
  });
  const { providers } = await get("/v1/admin/providers");
  const keyFile = providers.find((one: any) => one.provider_key === "vertex").id;
  await write("PATCH", `usage-import/providers/${providers[0].id}`, { import_enabled: true, api_key: "sk-admin-secret-20" });
  await write("PATCH", `usage-import/providers/${keyFile}`, { import_account: "p.billing.export", api_key: KEY_FILE });
  await make("ai-systems", { group_id: team, owner: "Ada", purpose: "Answers.\nPlainly.", data_classes: ["orders"] });
  await write("PUT", `ai-systems/${team}/envelope`, {
    ...{ autonomy_level: "restricted", max_llm_calls_per_run: 9 },
    restrictions: { model_ids: [model], mcp_server_ids: [plain], agent_ids: [agents[0]], tools: [] },
  });
  await make("ai-systems", { group_id: company });
  const response = { finding_kinds: ["model_drift"], action: "require_approval", mode: "armed" };
  await make("response-policies", { name: "for all", ...response });
  await make(`ai-systems/${team}/response-policies`, { name: "for one", ...response, min_severity: "low" });
  await write("PATCH", "compliance/profile", { frameworks: ["soc2", "gdpr_art_30"] });
  await write("PATCH", "compliance/gdpr/statements", { ...NOTHING_SAID, controller: "Example Ltd" });
  await write("PATCH", "discovery/settings", { gateway_origins: ["https://gateway.example"] });
  await write("PUT", "notice-config", { ai_system_id: team, surface: "banner", texts: { en: "A system." } });
  await write("POST", `end-user-groups/${people}/resource-groups`, { resource_group_ids: [team, company] });
  await write("POST", `resource-groups/${team}/agent-skills`, { skill_ids: [skill] });
  await document(company, "llm-global-limits", {
    llm_global_limits: { budget: { monthly_limit_usd: 100 }, tokens: { daily_limit: 9000 } },
  });
  await document(team, "llm-global-limits", { llm_global_limits: { budget: { monthly_limit_usd: 50, hard_stop: true } } });
  await document(team, "llm-global-governance", { governance: { temperature: { max: 1, enforce: "clamp" } } });
  await document(team, "mcp-global-limits", { mcp_global_limits: { frequency: { max_calls_per_day: 30 } } });
  await document(team, "skill-global-limits", { skill_global_limits: { execution: { timeout_seconds: 3 } } });
  await document(team, "media-governance", { media_governance: { image: { max_n: 2, quality_whitelist: ["low"] } } });
  await document(team, "run-ceilings", { run_ceilings: { max_llm_calls_per_run: 9 } });
  await document(team, "web-search", { web_search: { domains: { denied: ["example.com"] }, fetch: { addresses: "none" } } });
  await document(team, `llm-models/${model}/limits`, { limits: { requests: { daily_limit: 7 } } });
  await document(team, `llm-models/${model}/governance`, { governance: { tool_use: { mode: "deny" } } });
  await document(team, `mcp-servers/${plain}/limits`, { limits: { data: { max_payload_size_mb: 1 } } });
  await document(team, `mcp-servers/${searches.server_id}/limits`, { limits: { frequency: { max_calls_per_hour: 5 } } });
  await document(team, `agent-skills/${skill}/limits`, { limits: { execution: { timeout_seconds: 2 } } });
  await document(company, `llm-models/${embedder}/limits`, { limits: { concurrency: { max_concurrent: 4 } } });
  await document(team, `llm-models/${model}/portal-visibility`, { portal_visible: false });
  await request("PATCH", "/v1/admin/tenants/default", {
    default_judge_model_id: model,
    allowed_regions: ["eu"],
    data_retention: { log_days: 40 },
  });
  await request("PUT", "/v1/admin/notice-config", { enabled: true, surface: "inline", texts: { en: "An AI\nanswers." } });
  await post(`/v1/admin/resource-groups/${team}/api-keys`, {
    name: "app",
    allowed_skill_ids: [],
    allowed_addresses: ["10.0.0.0/8", "2001:DB8::1"],
    expires_at: "2124-01-01T00:00:00Z",
  });
}

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

async function uploadIcon(world: World, name: string): Promise<void> {
  const { mcp_servers: servers } = await world.admin.get("/v1/admin/mcp-servers");
  const { id } = servers.find((server: { name: string }) => server.name === name);
  const body = new FormData();
  body.append("file", new Blob([Buffer.from(PNG, "base64")], { type: "image/png" }), "icon.png");
  const headers = { authorization: `Bearer ${world.admin.token}` };
  const answer = await fetch(`${world.gateway.adminUrl}/v1/admin/mcp-servers/${id}/icon`, { method: "POST", headers, body });
  expect(answer.status).toBe(200);
}

/** A secret of the type that its record expects: a key file, a pair, or any text. */
function secretFor(name: string): string {
  if (/VERTEX|CLAUDE/.test(name)) return KEY_FILE;
  if (name.startsWith("WEBHOOKS")) return name.endsWith("URL") ? "https://hooks.example/b" : `whsec_${Buffer.alloc(24).toString("base64")}`;
  return /BEDROCK/.test(name) ? "AKIAEXAMPLE:another-secret" : `another-secret-of-${name}`;
}

async function skillsOn({ post }: AdminClient): Promise<string> {
  const content = "---\nname: count-words\ndescription: Counts words.\n---\n";
  return (await post("/v1/admin/agent-skills/import", { files: [{ path: "SKILL.md", content }] })).skill.id;
}

let path: string;
let exported: string;
const NOTHING = { code: 0, out: "Nothing is to be done.\n", err: "" };

test("one record of each kind with each kind of credential is exported without secrets, and planning the export is empty", async () => {
  await makeEverything(from.admin, await skillsOn(from.admin));
  await uploadIcon(from, "plain");
  const told = await config(from, ["export"]);
  expect([told.code, told.err]).toEqual([0, ""]);
  exported = told.out;
  expect(exported).not.toMatch(/-secret-\d\d|PRIVATE KEY|whsec_/);
  path = join(directory, "everything.yaml");
  await writeFile(path, exported);
  expect(await config(from, ["plan", path])).toEqual(NOTHING);
});

test("applied to another gateway, the export creates everything, and planning or applying it again changes nothing", async () => {
  await skillsOn(to.admin);
  const names = [...exported.matchAll(/^ +.*from_env: (\w+)$/gm)].map(([, name = ""]) => name);
  expect(new Set(names).size).toBe(25);
  const variables = Object.fromEntries(names.map((name) => [name, secretFor(name)]));
  const apply = () => config(to, ["apply", path, "--keys-file", join(directory, "keys.json")], variables);
  const applied = await apply();
  expect([applied.code, applied.err]).toEqual([0, ""]);
  expect(await config(to, ["plan", path])).toEqual(NOTHING);
  expect(await config(to, ["plan", path], variables)).toEqual(NOTHING);
  expect((await apply()).out).toBe("Nothing was to be done.\n");
  expect((await config(to, ["export"])).out).toBe(exported);
});
