import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmod, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { configCommand } from "../../../server/cli/config.ts";
import { importCommand } from "../../../server/cli/import.ts";
import type { KnownFacts } from "../../../server/cli/imports/litellm-catalog.ts";
import { catalogMembers } from "../../../server/directory/models/catalog/fill.ts";
import { serveModels } from "../../support/worlds/admin.ts";
import { ADMIN_PASSWORD, removeDirectory, temporaryDirectory } from "../../support/gateway.ts";
import { startWorld, type World } from "../../support/world.ts";

const known: KnownFacts = (place, name, given) => catalogMembers(place, name, given, new Date());

let world: World;
let directory: string;

beforeAll(async () => {
  world = await startWorld();
  directory = await temporaryDirectory();
});
afterAll(async () => {
  await world.end();
  await removeDirectory(directory);
});

type Command = (io: { stdout(text: string): void; stderr(text: string): void }) => Promise<number>;

async function ran(command: Command) {
  const told = { out: "", err: "" };
  const code = await command({ stdout: (text) => void (told.out += text), stderr: (text) => void (told.err += text) });
  return { code, ...told };
}

const config = (args: readonly string[], env: Record<string, string> = {}) =>
  ran((io) =>
    configCommand(
      [...args, "--url", world.gateway.adminUrl],
      { GATEHOUSE_ADMIN_PASSWORD: ADMIN_PASSWORD, ...env } as Record<string, string>,
      io,
    ),
  );

async function file(name: string, text: string): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, text);
  return path;
}

async function newTenant(id: string) {
  await world.admin.post("/v1/admin/tenants", { id, name: id });
  const skill = "---\nname: count-words\ndescription: Counts words.\n---\n";
  await world.admin.post(`/v1/admin/agent-skills/import?tenant_id=${id}`, { files: [{ path: "SKILL.md", content: skill }] });
  return { get: (path: string) => world.admin.get(`${path}?tenant_id=${id}`) };
}

const HEAD = "format: gatehouse/configuration/v1\n";

/** One record of each kind, with every possible reference between them. */
const EVERYTHING = `${HEAD}
tenant: { display_name: Shown, allowed_regions: [eu], default_judge_model_id: chat model }
notice: { enabled: true, surface: banner, texts: { en: An AI answers. } }
resource_groups:
  - { name: team, parent_group_id: company, phi_resource: true, default_knowledgebase_ids: [] }
  - name: company
    default_knowledgebase_ids: [handbook]
    llm_global_limits: { budget: { monthly_limit_usd: 50 } }
    run_ceilings: { max_llm_calls_per_run: 9 }
    llms: { chat model: { limits: { requests: { daily_limit: 7 } }, portal_visible: false } }
    mcp_servers: { tools: { limits: { frequency: { max_calls_per_day: 3 } } } }
end_user_groups: [{ name: people, display_name: People }]
providers:
  - { provider_key: ours, api_format: openai, base_url: "https://models.example/v1", region: eu, api_key: { from_env: OURS_KEY } }
routing_groups: [{ id: smart, routing_strategy: ordered, num_retries: 1 }]
llms:
  - { name: chat model, model_name: m, provider: ours, modes: [chat, responses], group_ids: [company, team], input_cost_per_million_tokens: 0.15 }
  - { name: embedder, provider: ours, modes: [embedding], group_ids: [team], routing_group_id: null }
  - { name: member, provider: ours, routing_group_id: smart, routing_weight: 2, group_ids: [team] }
knowledge_bases: [{ name: handbook, embedding_model_id: embedder, indexing_group_id: team, group_ids: [team, company], top_k: 7 }]
kb_connectors: [{ name: wiki, knowledge_base_id: handbook, connector_type: directory, location: wiki }]
web_search_providers: [{ name: searcher, kind: brave, base_url: "http://127.0.0.1:9/", api_key: { from_env: SEARCH_KEY }, price_per_search_usd: 0.005 }]
mcp_servers:
  - { name: tools, base_url: "http://127.0.0.1:9", auth_type: bearer, api_key: { from_env: TOOLS_KEY } }
  - { name: 工具, base_url: "http://127.0.0.1:8", auth_type: bearer, api_key: { from_env: TOOLS_KEY } }
  - { name: 資料, base_url: "http://127.0.0.1:7", auth_type: bearer, api_key: { from_env: TOOLS_KEY } }
server_configs: [{ name: closed, mcp_server_id: tools, group_ids: [company], enabled_tools: [] }, { name: of the team, mcp_server_id: tools, group_ids: [team], approval_required_tools: [pay], approver_group_ids: [company] }]
virtual_servers: [{ name: both, members: [{ mcp_server_id: tools, slug: own }], group_ids: [team] }]
agents:
  - { card_name: helper, name: Helper, base_url: "http://127.0.0.1:9/a2a", auth_type: bearer, credentials: { value: { from_env: AGENT_KEY } } }
  - card_name: client
    name: Client
    base_url: "http://127.0.0.1:9/a2a"
    auth_type: oauth_client
    credentials: { token_url: "http://127.0.0.1:9/token", client_id: gateway, scope: tasks, client_secret: { from_env: CLIENT_SECRET } }
agent_grants: [{ agent_id: helper, group_ids: [team], decision: approval_required }]
guardrail_configs:
  - name: wall
    group_ids: [team]
    surfaces: { chat_input: true, chat_output: false }
    builtin: { pii_enabled: true, banned_words: [titan] }
argument_policies:
  - { name: reading, target: run, argument_key: sql, analyzer: sql, rules: [{ deny_if: writes, message: No. }], group_ids: [team] }
semantic_cache_configs: [{ name: cache, embedding_model_id: embedder, exact_match: { enabled: true }, group_ids: [team] }]
semantic_policies: [{ name: kind, constraint_text: Be kind., judge_model_id: chat model, surfaces: [chat_input], resource_group_ids: [team] }]
identity_providers:
  - name: directory
    kind: oidc
    audience: portal
    oidc: { issuer: "https://issuer.example", client_id: gatehouse }
    client_secret: { from_env: OIDC_SECRET }
    group_mappings: [{ group: builders, end_user_group_id: people }]
api_keys:
  - { resource_group_id: team, name: no skills, access_mode: shared, allowed_skill_ids: [] }
  - { resource_group_id: team, name: app, access_mode: shared, allowed_skill_ids: [count-words] }
`;

const SECRETS = {
  OURS_KEY: "sk-ours-000001",
  SEARCH_KEY: "search-secret-5",
  TOOLS_KEY: "tools-secret-02",
  AGENT_KEY: "agent-secret-03",
  CLIENT_SECRET: "agent-secret-06",
  OIDC_SECRET: "oidc-secret-0004",
};

describe("a tenant's configuration", () => {
  test("applied from a file and exported can be applied to another tenant, whose export is the same", async () => {
    await newTenant("first");
    await newTenant("second");
    const path = await file("everything.yaml", EVERYTHING);
    const keys = join(directory, "keys.json");
    const made = await config(["apply", path, "--tenant", "first", "--keys-file", keys], SECRETS);
    expect([made.code, made.err]).toEqual([0, ""]);
    expect((await stat(keys)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(keys, "utf8"))).toEqual({
      "team / app": expect.stringMatching(/^sk_gw_api_/),
      "team / no skills": expect.stringMatching(/^sk_gw_api_/),
    });

    const exported = await config(["export", "--tenant", "first"]);
    expect([exported.code, exported.err]).toEqual([0, ""]);
    for (const secret of Object.values(SECRETS)) expect(exported.out + made.out).not.toContain(secret);
    const again = await file("exported.yaml", exported.out);
    expect(await config(["plan", again, "--tenant", "first"])).toEqual({ code: 0, out: "Nothing is to be done.\n", err: "" });
    const variables = Object.fromEntries(
      [...exported.out.matchAll(/^ +from_env: (\w+)/gm)].map(([, name = ""], n) => [
        name,
        Object.values(SECRETS)[n] ?? `another-secret-${n}`,
      ]),
    );
    expect(Object.keys(variables)).toHaveLength(8);
    // Omitted and empty list differ: all tools, or none.
    for (const [member, times] of [
      ["enabled_tools: []", 1],
      ["allowed_skill_ids: []", 1],
      ["default_knowledgebase_ids: []", 1],
    ] as const)
      expect(exported.out.split(member)).toHaveLength(times + 1);
    // No record ID of this tenant is in the export.
    expect(exported.out).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-|\b(skill|mcp|agent)-[0-9A-HJKMNP-TV-Z]{26}/);
    const second = await config(["apply", again, "--tenant", "second", "--keys-file", keys], variables);
    expect([second.code, second.err]).toEqual([0, ""]);
    expect((await config(["export", "--tenant", "second"])).out.replace("name: second", "name: first")).toBe(exported.out);
  });

  test("applied again changes nothing; changes made elsewhere are shown and reverted", async () => {
    const path = await file("everything.yaml", EVERYTHING);
    expect((await config(["apply", path, "--tenant", "first"], SECRETS)).out).toBe("Nothing was to be done.\n");
    const [model] = (await world.admin.get("/v1/admin/llms?tenant_id=first&search=chat")).llms;
    await world.admin.request("PATCH", `/v1/admin/llms/${model.id}`, { input_cost_per_million_tokens: 9 });
    const planned = await config(["plan", path, "--tenant", "first"], SECRETS);
    expect(planned).toEqual({ code: 2, out: '~ llms "chat model"\n    input_cost_per_million_tokens: 9 -> 0.15\n', err: "" });
    expect((await config(["apply", path, "--tenant", "first"], SECRETS)).out).toEndWith("1 change made.\n");
    expect((await world.admin.get(`/v1/admin/llms/${model.id}`)).input_cost_per_million_tokens).toBe(0.15);
  });

  test("reports a changed secret without showing it", async () => {
    const path = await file("everything.yaml", EVERYTHING);
    const planned = await config(["plan", path, "--tenant", "first"], { ...SECRETS, OURS_KEY: "sk-ours-999999" });
    expect(planned).toEqual({ code: 2, out: '~ providers "ours"\n    api_key: another secret\n', err: "" });
  });

  test("shows the public part of an agent's credentials, and changes it only together with the secret", async () => {
    const path = await file("elsewhere.yaml", EVERYTHING.replace("scope: tasks", "scope: more"));
    const shown = (scope: string) => JSON.stringify({ token_url: "http://127.0.0.1:9/token", client_id: "gateway", scope });
    const told = `~ agents "client"\n    credentials: ${shown("tasks")} -> ${shown("more")}\n`;
    expect(await config(["plan", path, "--tenant", "first"], SECRETS)).toEqual({ code: 2, out: told, err: "" });
    const { CLIENT_SECRET: _, ...others } = SECRETS;
    expect(await config(["plan", path, "--tenant", "first"], others)).toEqual({
      code: 1,
      out: "",
      err: 'gatehouse config: agents "client": CLIENT_SECRET is not set\n',
    });
    // The record keeps its secret.
    const unchanged = await file("everything.yaml", EVERYTHING);
    expect((await config(["apply", unchanged, "--tenant", "first"], others)).out).toBe("Nothing was to be done.\n");
    const { agents } = await world.admin.get("/v1/admin/agents?tenant_id=first&search=client");
    expect(agents).toMatchObject([{ credential_settings: { client_id: "gateway", has_client_secret: true } }]);
    expect(JSON.stringify(agents)).not.toContain(SECRETS.CLIENT_SECRET);
  });

  test("with a secret too short for a hint: plan ignores it, and apply lets the gateway compare it", async () => {
    const tenant = await newTenant("masked");
    const path = await file(
      "masked.yaml",
      `${HEAD}providers: [{ provider_key: p, api_format: openai, api_key: { from_env: SHORT_KEY } }]\n`,
    );
    const run = async (action: string, key: string) => await config([action, path, "--tenant", "masked"], { SHORT_KEY: key });
    expect((await run("apply", "EMPTY")).out).toEndWith("1 change made.\n");
    expect((await tenant.get("/v1/admin/providers")).providers[0].api_key_hint).toBe("****");
    expect(await run("plan", "EMPTY")).toEqual({ code: 0, out: "Nothing is to be done.\n", err: "" });
    expect((await run("apply", "EMPTY")).out).toBe("Nothing was to be done.\n");
    expect((await run("plan", "none")).code).toBe(0);
    expect((await run("apply", "none")).out).toBe('~ providers "p"\n    api_key: another secret\n1 change made.\n');
  });

  test("applied with --prune loses records missing from the file's sections, and none of other sections or tenants", async () => {
    const path = await file("fewer.yaml", `${HEAD}argument_policies: []\nsemantic_policies: []\n`);
    expect((await config(["apply", path, "--tenant", "first"])).out).toBe("Nothing was to be done.\n");
    const pruned = await config(["apply", path, "--tenant", "first", "--prune"]);
    expect(pruned.out).toBe('- semantic_policies "kind"\n- argument_policies "reading"\n2 changes made.\n');
    const count = async (tenant: string) => {
      const [rules, words, walls] = await Promise.all(
        ["argument-policies", "semantic-policies", "guardrails/configs"].map((kind) =>
          world.admin.get(`/v1/admin/${kind}?tenant_id=${tenant}`),
        ),
      );
      return [rules.total, words.total, walls.total];
    };
    expect([await count("first"), await count("second")]).toEqual([
      [0, 0, 1],
      [1, 1, 1],
    ]);
  });

  test("that is invalid is refused with every error before anything is written", async () => {
    const tenant = await newTenant("untouched");
    for (const [text, complaints] of [
      ["a: [", [/it is no YAML/]],
      ["- a", [/mapping of sections/]],
      ["resource_groups: []", [/^gatehouse config: format: must be/]],
      [`${HEAD}llms: []\nproviders: []\nllms: []`, [/llms: is there twice/]],
      [`${HEAD}modles: []\nllms: {}`, [/modles: is no section/, /llms: must be a list/]],
      [
        `${HEAD}llms: [{ name: a }, { name: a }, 3, { model_name: b }]`,
        [/llms\[1\]: "a" is there twice/, /llms\[2\]: must be/, /llms\[3\].name: is missing/],
      ],
      [
        `${HEAD}resource_groups: [{ name: fine, colour: red }]\nllms: [{ name: m, provider: p, group_ids: [fine, none] }]\nproviders: [{ provider_key: p, api_format: openai, api_key: { from_env: NOT_SET } }]`,
        [
          /resource_groups "fine": colour is not known here/,
          /llms "m": group_ids names "none", which is none of resource_groups/,
          /providers "p": NOT_SET is not set/,
        ],
      ],
      [
        `${HEAD}resource_groups: [{ name: g, llms: { nobody: { limits: {}, other: {} } } }]`,
        [/llms names "nobody"/, /other is not known here/],
      ],
      [
        `${HEAD}resource_groups: [{ name: g, inherit_resources: "yes", group_type: tribe }]
llms: [{ name: m, provider: echo, routing_group_id: none, context_window: many, input_cost_per_million_tokens: -1, group_ids: g }]
server_configs: [{ name: s, mcp_server_id: none, enabled_tools: [1] }]`,
        [
          /resource_groups "g": inherit_resources must be true or false\n/,
          /resource_groups "g": group_type must be one of organization, team\n/,
          /llms "m": routing_group_id names "none", which is none of routing_groups\n/,
          /llms "m": provider names "echo", which is none of providers\n/,
          /llms "m": context_window must be a whole number\n/,
          /llms "m": input_cost_per_million_tokens must be at least 0\n/,
          /llms "m": group_ids must be a list\n/,
          /server_configs "s": enabled_tools\[0\] must be text\n/,
        ],
      ],
      [`${HEAD}resource_groups: [{ name: g }]\napi_keys: [{ resource_group_id: g, name: k }]`, [/--keys-file/]],
    ] as const) {
      const refused = await config(["apply", await file("wrong.yaml", text), "--tenant", "untouched"]);
      expect([refused.code, refused.out]).toEqual([1, ""]);
      for (const complaint of complaints) expect(refused.err).toMatch(complaint);
    }
    expect((await tenant.get("/v1/admin/resource-groups")).total).toBe(0);
  });

  test("that the gateway refuses midway reports the place, and continues from there once corrected", async () => {
    await newTenant("halfway");
    const text = (address: string) =>
      `${HEAD}providers: [{ provider_key: p, api_format: echo }]\nllms: [{ name: m, provider: p, base_url: "${address}" }]\n`;
    const apply = async (address: string) => config(["apply", await file("half.yaml", text(address)), "--tenant", "halfway"]);
    const refused = await apply("http://user:secret@127.0.0.1:9");
    expect(refused).toMatchObject({ code: 1, out: '+ providers "p"\n' });
    expect(refused.err).toMatch(/llms "m": POST .* 400: base_url: /);
    expect((await apply("http://127.0.0.1:9")).out).toBe('+ llms "m"\n1 change made.\n');
  });

  test("with secrets in plain text is planned with warnings that do not show them", async () => {
    await newTenant("plain");
    const text = `${HEAD}providers: [{ provider_key: p, api_format: openai, api_key: sk-as-it-is-0001 }]
agents: [{ card_name: a, name: A, base_url: "http://127.0.0.1:9/a2a", auth_type: bearer, credentials: { value: sk-as-it-is-0002 } }, { card_name: o, name: O, base_url: "http://127.0.0.1:9/a2a", auth_type: oauth_client, credentials: { token_url: "http://127.0.0.1:9/token", client_id: c, client_secret: sk-as-it-is-0003 } }]
guardrail_configs: [{ name: guarded, providers: [{ provider: webhook, endpoint: "http://127.0.0.1:9", api_key: { from_env: KEPT_ELSEWHERE } }, { provider: webhook, endpoint: "http://127.0.0.1:8", api_key: sk-as-it-is-0004 }] }]\n`;
    const planned = await config(["plan", await file("plain.yaml", text), "--tenant", "plain"], { KEPT_ELSEWHERE: "sk-kept-0005" });
    expect(planned.err.split("\n")).toEqual([
      'gatehouse config: warning: providers "p": api_key is in the file as it is; { from_env: NAME } keeps it out',
      'gatehouse config: warning: agents "a": credentials.value is in the file as it is; { from_env: NAME } keeps it out',
      'gatehouse config: warning: agents "o": credentials.client_secret is in the file as it is; { from_env: NAME } keeps it out',
      'gatehouse config: warning: guardrail_configs "guarded": providers[1].api_key is in the file as it is; { from_env: NAME } keeps it out',
      "",
    ]);
    expect(planned.out).not.toContain("sk-as-it-is");
  });

  test("keeps API keys already in the keys file, and needs a writable keys file before it creates any", async () => {
    await newTenant("keyed");
    const text = (...names: string[]) =>
      `${HEAD}resource_groups: [{ name: g }]\napi_keys: [${names.map((name) => `{ resource_group_id: g, name: ${name} }`).join(", ")}]\n`;
    const apply = async (keys: string, ...names: string[]) =>
      config(["apply", await file("keyed.yaml", text(...names)), "--tenant", "keyed", "--keys-file", keys]);
    const keys = await file("kept.json", "");
    await chmod(keys, 0o644);
    expect((await apply(keys, "one")).code).toBe(0);
    const first = JSON.parse(await readFile(keys, "utf8"));
    expect((await apply(keys, "one", "two")).code).toBe(0);
    const both = JSON.parse(await readFile(keys, "utf8"));
    expect([Object.keys(both).length, both]).toMatchObject([2, first]);
    expect((await stat(keys)).mode & 0o777).toBe(0o600);
    for (const path of [join(directory, "no-such-directory", "keys.json"), await file("other.json", "[1]")])
      expect(await apply(path, "one", "two", "three")).toMatchObject({ code: 1, out: "", err: expect.stringContaining("keys") });
    const dry = ["apply", await file("keyed.yaml", text("one", "two", "three")), "--tenant", "keyed", "--dry-run"];
    expect(await config(dry)).toMatchObject({ code: 2, out: expect.stringContaining("three") });
  });

  test("can be exported only by administrators of that tenant", async () => {
    const account = { tenant_id: "second", username: "keeper", password: ADMIN_PASSWORD, role: "owner" };
    await world.admin.post("/v1/admin/admin-users", account);
    const env = { GATEHOUSE_ADMIN_USERNAME: "keeper" };
    const own = await config(["export", "--tenant", "second"], env);
    expect([own.code, own.out.includes("\ntenant:"), own.out.includes("name: team")]).toEqual([0, false, true]);
    expect(await config(["export", "--tenant", "first"], env)).toMatchObject({ code: 1, out: "" });
    expect(await config(["export"], { GATEHOUSE_ADMIN_PASSWORD: "another password" })).toMatchObject({ code: 1, out: "" });
  });
});

describe("a configuration of another gateway", () => {
  const imported = (args: readonly string[], env = {}) => ran((io) => importCommand([...args], env, known, io));
  const ask = (apiKey: string, model: string) =>
    fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": apiKey },
      body: JSON.stringify({ model, messages: [{ role: "user", content: "x" }] }),
    });

  test("of LiteLLM with 40 models, a fallback and an alias serves calls under the same names once applied", async () => {
    const models = Array.from(
      { length: 38 },
      (_, n) =>
        `  - { model_name: m${n}, litellm_params: { model: openai/fake-1, api_base: "${world.upstream.baseUrl}", api_key: os.environ/LITELLM_KEY } }`,
    );
    const path = await file(
      "litellm.yaml",
      `model_list:
${models.join("\n")}
  - { model_name: Broken GPT, litellm_params: { model: openai/fake-1, api_base: "http://127.0.0.1:9", api_key: sk-as-it-stands } }
  - { model_name: "*", litellm_params: { model: "openai/*" } }
  - { model_name: odd, litellm_params: { model: petals/x } }
router_settings: { routing_strategy: usage-based-routing-v2, fallbacks: [{ Broken GPT: [m0] }], model_group_alias: { gpt-x: m1 } }
litellm_settings: { callbacks: [langfuse], max_budget: 70, budget_duration: 30d }
general_settings: { master_key: sk-1234 }
something_new: 1
`,
    );
    const output = join(directory, "from-litellm.yaml");
    const told = await imported(["litellm", path, "--group", "moved", "--output", output]);
    expect(told.code).toBe(0);
    for (const note of ["wildcard", '"petals"', "usage-based-routing-v2", "callbacks", "master_key", "something_new"])
      expect(told.err).toContain(note);
    expect(await imported(["litellm", path, "--dry-run"])).toMatchObject({ code: 0, out: "", err: expect.stringContaining("wildcard") });
    const text = await readFile(output, "utf8");
    expect(text).not.toContain("sk-as-it-stands");
    const env = { LITELLM_KEY: "sk-upstream-1", OPENAI_MODEL_LIST_38_API_KEY: "sk-as-it-stands" };
    expect((await config(["apply", output], env)).err).toBe("");
    expect((await config(["plan", output], env)).code).toBe(0);

    const { resource_groups: groups } = await world.admin.get("/v1/admin/resource-groups?tenant_id=default&search=moved");
    const limits = await world.admin.get(`/v1/admin/resource-groups/${groups[0].id}/llm-global-limits`);
    expect(limits.llm_global_limits).toEqual({ budget: { monthly_limit_usd: 70 } });
    const { key: apiKey } = await world.admin.post(`/v1/admin/resource-groups/${groups[0].id}/api-keys`, { name: "moved" });
    for (const model of ["m0", "m37", "gpt-x", "Broken GPT"]) {
      const answer = await ask(apiKey, model);
      expect([model, answer.status, (await answer.json()).id]).toEqual([model, 200, "chatcmpl-fake1"]);
    }
    expect(world.upstream.seen.at(-1)?.headers["authorization"]).toBe("Bearer sk-upstream-1");
  });

  test("of Portkey, and a list of OpenRouter models, becomes a file that can be applied", async () => {
    await newTenant("ported");
    const portkey = await file(
      "my-config.json",
      JSON.stringify({
        strategy: { mode: "fallback" },
        retry: { attempts: 3 },
        cache: { mode: "semantic" },
        targets: [
          { provider: "openai", api_key: "sk-in-the-config", override_params: { model: "gpt-4o", temperature: 0 } },
          {
            strategy: { mode: "loadbalance" },
            targets: [{ provider: "anthropic", virtual_key: "vk", override_params: { model: "claude-sonnet-4-5" } }],
          },
          { virtual_key: "unknown" },
        ],
      }),
    );
    const output = join(directory, "ported.yaml");
    const told = await imported(["portkey", portkey, "--output", output]);
    expect(told.code).toBe(0);
    for (const note of ["cache", "temperature", "targets within targets", "targets[2]"]) expect(told.err).toContain(note);
    expect(await readFile(output, "utf8")).not.toContain("sk-in-the-config");
    const env = { OPENAI_API_KEY: "sk-1", ANTHROPIC_API_KEY: "sk-2", OPENROUTER_API_KEY: "sk-3" };
    expect((await config(["apply", output, "--tenant", "ported"], env)).err).toBe("");
    const list = await file(
      "models.json",
      JSON.stringify({
        data: [{ id: "a/b", context_length: 128_000, pricing: { prompt: "0.0000025", completion: "-1" } }, { id: "c/d:free" }],
      }),
    );
    expect(await imported(["openrouter", list, "--output", output])).toMatchObject({ code: 0 });
    expect((await config(["apply", output, "--tenant", "ported"], env)).err).toBe("");
    const { llms } = await world.admin.get("/v1/admin/llms?tenant_id=ported&search=a/b");
    expect(llms).toMatchObject([
      { name: "a/b", context_window: 128_000, input_cost_per_million_tokens: 2.5, output_cost_per_million_tokens: null },
    ]);
  });

  test("that is invalid or of an unknown gateway is refused", async () => {
    const path = await file("none.yaml", "- a");
    for (const from of ["litellm", "portkey", "nobody"]) expect(await imported([from, path])).toMatchObject({ code: 1, out: "" });
    expect(await imported(["litellm", join(directory, "missing.yaml")])).toMatchObject({ code: 1, out: "" });
  });
});

test("records created through the admin API are exported too, and with --all every member", async () => {
  await serveModels(world.admin, world.upstream.baseUrl, ["by hand"]);
  const exported = await config(["export", "--all"]);
  expect([exported.code, exported.out.includes("name: by hand"), exported.out.includes("system_prompt: null")]).toEqual([0, true, true]);
});
