import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { toldByConfig } from "../../support/worlds/config-command.ts";
import { removeDirectory, temporaryDirectory } from "../../support/gateway.ts";
import { startWorld, type World } from "../../support/world.ts";

let world: World;
let directory: string;

beforeAll(async () => {
  [world, directory] = await Promise.all([startWorld(), temporaryDirectory()]);
});
afterAll(async () => {
  await world.end();
  await removeDirectory(directory);
});

const HEAD = "format: gatehouse/configuration/v1\n";
const NOTHING = { code: 0, out: "Nothing is to be done.\n", err: "" };

const config = (tenant: string, args: readonly string[]) => toldByConfig(world.gateway.adminUrl, tenant, args);

async function file(name: string, text: string): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, text);
  return path;
}

async function newTenant(id: string): Promise<string> {
  await world.admin.post("/v1/admin/tenants", { id, name: id });
  return id;
}

const groupsWith = (budgets: Record<string, number>) =>
  `${HEAD}resource_groups:\n${Object.entries(budgets)
    .map(
      ([name, usd]) =>
        `  - { name: ${name}${name === "company" ? "" : ", parent_group_id: company"}, llm_global_limits: { budget: { monthly_limit_usd: ${usd} } } }\n`,
    )
    .join("")}`;

test.each([
  ["raised in the same apply as its parent's, in any order of the file", { a: 400, company: 500 }, { a: 800, company: 1000 }],
  ["raised by what a sibling's limit gives up", { company: 500, a: 400, b: 60 }, { company: 500, a: 40, b: 460 }],
  ["raised although listed before the sibling that gives way", { company: 500, a: 60, b: 400 }, { company: 500, a: 460, b: 40 }],
  ["raised by the share of a deleted sibling", { company: 500, a: 60, b: 400 }, { company: 500, a: 460 }],
])("a limit is %s", async (about, first, then) => {
  const tenant = await newTenant(`room-${about.replaceAll(/[^a-z]+/g, "-").slice(0, 40)}`);
  const [before, after] = [await file("room.yaml", groupsWith(first)), await file("room-then.yaml", groupsWith(then as typeof first))];
  expect(await config(tenant, ["apply", before])).toMatchObject({ code: 0, err: "" });
  expect(await config(tenant, ["apply", after, "--prune"])).toMatchObject({ code: 0, err: "" });
  expect(await config(tenant, ["plan", after, "--prune"])).toEqual(NOTHING);
});

test("a limit above the inherited one is reported after all other changes are applied", async () => {
  const tenant = await newTenant("no-room");
  const path = await file("no-room.yaml", groupsWith({ company: 10, a: 20, b: 5 }));
  const told = await config(tenant, ["apply", path]);
  expect(told.code).toBe(1);
  expect(told.err).toContain('resource_groups "a": llm_global_limits: ');
  expect(told.err).toContain("must be at most 10, which is inherited");
  expect(told.out).toContain('~ resource_groups "b": llm_global_limits');
});

test("invalid tenant settings are reported before anything is written", async () => {
  const tenant = await newTenant("tenant-faults");
  const wrong = `tenant: { run_idle_minutes: soon, portal_registration: maybe, default_judge_model_id: nobody }
resource_groups: [{ name: made, llms: { m: { portal_visible: "no" } } }]
providers: [{ provider_key: p, api_format: echo }]
llms: [{ name: m, provider: p }]
`;
  expect(await config(tenant, ["apply", await file("tenant-faults.yaml", HEAD + wrong)])).toEqual({
    ...{ code: 1, out: "" },
    err: `gatehouse config: tenant.run_idle_minutes must be a whole number
tenant.portal_registration must be one of open, closed
tenant.default_judge_model_id: names "nobody", which is none of llms
resource_groups "made": llms "m" portal_visible must be true or false
`,
  });
  expect((await config(tenant, ["export"])).out).not.toContain("made");
});

test("values written differently from how the gateway stores them count as unchanged", async () => {
  const tenant = await newTenant("spelling");
  const text = `tenant: { data_retention: { body_days: 10 } }
gdpr_statements:
  purposes: |
    Answering questions.
resource_groups:
  - name: team
    llm_global_limits: { budget: { monthly_limit_usd: 5, daily_limit_usd: null }, requests: {} }
    media_governance: { image: {} }
providers:
  - provider_key: p
    api_format: openai
    base_url: https://models.example/v1
    usage_import: { import_enabled: false, import_schedule_cron: "5 4 * * *" }
llms: [{ name: m, provider: p, group_ids: [team, team] }]
semantic_policies:
  - name: kind
    constraint_text: |
      Be kind.
ai_systems: [{ group_id: team, envelope: { autonomy_level: autonomous } }]
api_keys: [{ resource_group_id: team, name: k, expires_at: 2099-01-01T02:00:00+02:00 }]
`;
  const path = await file("spelling.yaml", HEAD + text);
  const keys = ["--keys-file", join(directory, "spelling.json")];
  expect(await config(tenant, ["apply", path, ...keys])).toMatchObject({ code: 0, err: "" });
  expect(await config(tenant, ["plan", path])).toEqual(NOTHING);
  expect((await config(tenant, ["apply", path, ...keys])).out).toBe("Nothing was to be done.\n");
  const other = await file("spelling-other.yaml", HEAD + text.replace("2099-01-01T02", "2099-01-01T03").replace("10 }", "11 }"));
  expect((await config(tenant, ["plan", other])).out.match(/^[~+-].*$/gm)).toEqual([
    '~ api_keys "team / k"',
    expect.stringContaining("~ tenant: data_retention"),
  ]);
});

test("references to deleted records are exported with warnings, and count as unchanged in their own tenant", async () => {
  const tenant = await newTenant("names-gone");
  const own = `?tenant_id=${tenant}`;
  const make = async (path: string, body: object): Promise<string> => (await world.admin.post(`/v1/admin/${path}${own}`, body)).id;
  const [gone, left] = [await make("resource-groups", { name: "gone" }), await make("resource-groups", { name: "left" })];
  const server = await make("mcp-servers", { name: "tools", base_url: "http://127.0.0.1:9" });
  const approved = { name: "c", mcp_server_id: server, group_ids: [left], approver_group_ids: [gone] };
  await make("server-configs", approved);
  await make("guardrails/configs", { name: "guard", group_ids: [gone, left] });
  await make("ai-systems", { group_id: left });
  const restrictions = { mcp_server_ids: [await make("mcp-servers", { name: "briefly", base_url: "http://127.0.0.1:8" })] };
  await world.admin.request("PUT", `/v1/admin/ai-systems/${left}/envelope${own}`, { autonomy_level: "restricted", restrictions });
  await world.admin.request("DELETE", `/v1/admin/resource-groups/${gone}${own}`);
  await world.admin.request("DELETE", `/v1/admin/mcp-servers/${restrictions.mcp_server_ids[0]}${own}`);
  const exported = await config(tenant, ["export"]);
  expect(exported.err.match(/warning: .* names/g)).toEqual([
    'warning: server_configs "c": approver_group_ids names',
    'warning: guardrail_configs "guard": group_ids names',
    'warning: ai_systems "left": envelope.restrictions.mcp_server_ids names',
  ]);
  const path = await file("names-gone.yaml", exported.out);
  expect(await config(tenant, ["plan", path])).toEqual(NOTHING);
  const changed = exported.out.replace("name: guard\n", "name: guard\n    description: Guards.\n").replace(": restricted", ": suspended");
  expect(await config(tenant, ["apply", await file("names-gone-2.yaml", changed)])).toMatchObject({ code: 0, err: "" });
  const elsewhere = await config(await newTenant("names-gone-elsewhere"), ["apply", path]);
  expect(elsewhere).toMatchObject({ code: 1, out: "" });
  expect(elsewhere.err).toContain(`server_configs "c": approver_group_ids names "${gone}", which is none of resource_groups`);
});

const served = (models: string, groups: string, server: string) => `${HEAD}
resource_groups: [{ name: team }]
providers: [{ provider_key: p, api_format: echo }]
routing_groups: [${groups}]
llms: [${models}]
mcp_servers: [{ name: ${server}, base_url: "http://127.0.0.1:9" }]
server_configs: [{ name: c, mcp_server_id: ${server}, group_ids: [team] }]
`;

test("--prune deletes a record before another takes its name, and a tool server is renamed in place", async () => {
  const tenant = await newTenant("makes-way");
  const one = await file("way-one.yaml", served("{ name: assistant, provider: p, group_ids: [team] }", "", "old"));
  const member = "{ name: assistant-1, provider: p, group_ids: [team], routing_group_id: assistant }";
  const two = await file("way-two.yaml", served(member, "{ id: assistant }", "new"));
  expect(await config(tenant, ["apply", one])).toMatchObject({ code: 0, err: "" });
  expect((await config(tenant, ["apply", two])).err).toContain("There is already a model of this name.");
  const configured = async () => (await world.admin.get(`/v1/admin/server-configs?tenant_id=${tenant}`)).server_configs[0].mcp_server_id;
  const server = await configured();
  const applied = await config(tenant, ["apply", two, "--prune"]);
  expect(applied.out).toBe(`- llms "assistant"
+ routing_groups "assistant"
+ llms "assistant-1"
~ mcp_servers "new"
    name: "old" -> "new"
4 changes made.
`);
  expect(await configured()).toBe(server);
  expect(await config(tenant, ["plan", two, "--prune"])).toEqual(NOTHING);
  expect(await config(tenant, ["apply", one, "--prune"])).toMatchObject({ code: 0, err: "" });
  expect(await config(tenant, ["plan", one, "--prune"])).toEqual(NOTHING);
});

test("--prune lets a tool server take the address of one that is deleted", async () => {
  const tenant = await newTenant("takes-address");
  const servers = (...all: string[]) => file(`address-${all.length}.yaml`, `${HEAD}mcp_servers: [${all.join(", ")}]\n`);
  const stays = (port: number) => `{ name: stays, base_url: "http://127.0.0.1:${port}" }`;
  expect(await config(tenant, ["apply", await servers(stays(8), '{ name: goes, base_url: "http://127.0.0.1:9" }')])).toMatchObject({
    code: 0,
  });
  const moved = await servers(stays(9));
  expect((await config(tenant, ["apply", moved])).err).toContain("There is already a tool server");
  expect(await config(tenant, ["apply", moved, "--prune"])).toMatchObject({ code: 0, err: "" });
  expect(await config(tenant, ["plan", moved, "--prune"])).toEqual(NOTHING);
});

test("a tenant's administrator can plan repeatedly without failed logins in the admin log", async () => {
  const tenant = await newTenant("pipeline");
  const account = { tenant_id: tenant, username: "pipeline", password: "a long enough password", role: "admin" };
  await world.admin.post("/v1/admin/admin-users", account);
  const path = await file("pipeline.yaml", `${HEAD}resource_groups: []\n`);
  const env = { GATEHOUSE_ADMIN_USERNAME: account.username, GATEHOUSE_ADMIN_PASSWORD: account.password };
  for (let run = 0; run < 7; run++) expect(await toldByConfig(world.gateway.adminUrl, tenant, ["plan", path], env)).toEqual(NOTHING);
  expect((await world.admin.get("/v1/admin/admin-log?action=login_failed")).total).toBe(0);
});

test("an expired API key is skipped with a warning, and the rest of the file is applied", async () => {
  const tenant = await newTenant("key-over");
  const text = (end: string, description: string) => `${HEAD}resource_groups: [{ name: team, description: ${description} }]
api_keys: [{ resource_group_id: team, name: k, expires_at: ${end} }]
`;
  const keys = ["--keys-file", join(directory, "key-over.json")];
  expect(await config(tenant, ["apply", await file("key.yaml", text("2099-01-01T00:00:00Z", "one")), ...keys])).toMatchObject({ code: 0 });
  const [key] = (await world.admin.get(`/v1/admin/api-keys?tenant_id=${tenant}`)).api_keys;
  await world.admin.request("PATCH", `/v1/admin/api-keys/${key.id}`, { expires_at: "2026-01-01T00:00:00Z" });
  const over = await file("key-over.yaml", text("2026-01-01T00:00:00Z", "two"));
  const warning = 'gatehouse config: warning: api_keys "team / k": its time is over, so it is not made\n';
  expect(await config(tenant, ["apply", over, "--prune"])).toMatchObject({ code: 0, err: warning });
  expect(await config(tenant, ["plan", over, "--prune"])).toEqual({ ...NOTHING, err: warning });
});
