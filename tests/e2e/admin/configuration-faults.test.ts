import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { configCommand } from "../../../server/cli/config.ts";
import { type Told, toldByConfig } from "../../support/worlds/config-command.ts";
import { ADMIN_PASSWORD, removeDirectory, temporaryDirectory } from "../../support/gateway.ts";
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

const config = (
  tenant: string,
  args: readonly string[],
  ...more: [env?: Record<string, string>, seen?: (out: string) => void | Promise<void>]
) => toldByConfig(world.gateway.adminUrl, tenant, args, ...more);

async function file(name: string, text: string): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, text);
  return path;
}

async function newTenant(id: string): Promise<string> {
  await world.admin.post("/v1/admin/tenants", { id, name: id });
  return id;
}

test("unknown members of a configuration file, and a legal hold, are all named with their place, unknown sections with a suggestion", async () => {
  const tenant = await newTenant("misspelt");
  const members = await file(
    "members.yaml",
    `${HEAD}
tenant: { allowed_region: [eu], legal_hold: null }
notice: { enable: true }
resource_groups:
  - { name: x, llm_global_limits: { budget: { montly_limit_usd: 4 } }, run_ceilings: { max_cost_per_run: 3 } }
llms: [{ name: y, provder: openai, input_cost_per_milion_tokens: 3 }]
mcp_servers: [{ name: s, base_url: "http://127.0.0.1:9", oauth_client: { client_idd: g } }]
virtual_servers: [{ name: v, members: [{ mcp_server_id: s, slugg: a }] }]
guardrail_configs: [{ name: g, builtin: { pii_enabld: true }, surfaces: { chat_inpt: true } }]
`,
  );
  const told = await config(tenant, ["apply", members]);
  expect(told.code).toBe(1);
  for (const place of [
    "tenant.allowed_region",
    "tenant.legal_hold",
    "notice.enable",
    'resource_groups "x": llm_global_limits.budget.montly_limit_usd',
    'resource_groups "x": run_ceilings.max_cost_per_run',
    'llms "y": provder',
    'llms "y": input_cost_per_milion_tokens',
    'mcp_servers "s": oauth_client: client_idd',
    'virtual_servers "v": members[0].slugg',
    'guardrail_configs "g": builtin.pii_enabld',
    'guardrail_configs "g": surfaces.chat_inpt',
  ])
    expect(told.err).toMatch(new RegExp(`${place.replace(/[[\].]/g, "\\$&")}:? is not known here`));
  expect(await world.admin.get(`/v1/admin/resource-groups?tenant_id=${tenant}`)).toMatchObject({ total: 0 });
  const sections = await config(tenant, ["plan", await file("sections.yaml", `${HEAD}resource_group: []\nmodels: []\n`)]);
  expect(sections.err).toContain("resource_group: is no section; is resource_groups meant?\nmodels: is no section\nThere are tenant, ");
});

test("a provider's new address is applied together with its API key from the environment", async () => {
  const tenant = await newTenant("moved");
  const provider = (url: string) =>
    `${HEAD}providers: [{ provider_key: p, api_format: openai, base_url: "${url}", api_key: { from_env: KEY } }]\n`;
  const env = { KEY: "sk-same-secret-0001" };
  await config(tenant, ["apply", await file("one.yaml", provider("https://one.example/v1"))], env);
  const two = await file("two.yaml", provider("https://two.example/v1"));
  expect(await config(tenant, ["apply", two], env)).toMatchObject({ code: 0, err: "" });
  expect(await config(tenant, ["plan", two], env)).toEqual(NOTHING);
});

test("an interrupted apply is completed by the next one, and concurrent applies do no harm", async () => {
  const groups = Array.from({ length: 12 }, (_, n) => `  - { name: g${n}, run_ceilings: { max_llm_calls_per_run: ${n + 1} } }`).join("\n");
  const path = await file("groups.yaml", `${HEAD}resource_groups:\n${groups}\n`);
  const tenant = await newTenant("interrupted");
  const broken = config(tenant, ["apply", path], {}, (out) => {
    if (out.includes('"g5"')) throw new Error("the terminal is gone");
  });
  expect((await broken).code).toBe(1);
  expect((await config(tenant, ["apply", path])).out).toContain('+ resource_groups "g6"');
  expect(await config(tenant, ["plan", path])).toEqual(NOTHING);

  const other = await newTenant("at-once");
  const both = await Promise.all([config(other, ["apply", path]), config(other, ["apply", path])]);
  for (const { code, err } of both) if (code !== 0) expect(err).toContain("Was it made meanwhile");
  await config(other, ["apply", path]);
  expect(await config(other, ["plan", path])).toEqual(NOTHING);
});

test("of two concurrent applies with one keys file the second stops before creating keys, and no key is lost", async () => {
  const keys = join(directory, "keys-at-once.json");
  const apply = async (tenant: string, group: string, seen?: (out: string) => Promise<void>) => {
    const entry = (name: string) => `{ resource_group_id: ${group}, name: ${name} }`;
    const text = `${HEAD}resource_groups: [{ name: ${group} }]\napi_keys: [${entry("one")}, ${entry("two")}]\n`;
    return config(tenant, ["apply", await file(`${group}.yaml`, text), "--keys-file", keys], {}, seen);
  };
  const [ours, theirs] = [await newTenant("keys-of-ours"), await newTenant("keys-of-theirs")];
  let second: Told | undefined;
  const first = await apply(ours, "ours", async (out) => {
    if (out.includes("ours / one")) second ??= await apply(theirs, "theirs");
  });
  expect(first.code).toBe(0);
  const why = `another apply (process ${process.pid}) is writing keys there: apply again when that has ended`;
  expect(second).toEqual({ code: 1, out: "", err: `gatehouse config: --keys-file ${keys}: ${why}\n` });
  expect(await apply(theirs, "theirs")).toMatchObject({ code: 0, err: "" });
  const kept = JSON.parse(await readFile(keys, "utf8")) as Record<string, string>;
  expect(Object.keys(kept).toSorted()).toEqual(["ours / one", "ours / two", "theirs / one", "theirs / two"]);
});

/** A proxy in front of the control plane that drops the answers to the API key creations numbered in `lost`. */
async function losingAnswers(lost: readonly number[]): Promise<{ url: string; end: () => Promise<void> }> {
  let answered = 0;
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const answer = await fetch(`${world.gateway.adminUrl}${request.url}`, {
      method: request.method ?? "GET",
      headers: Object.entries(request.headers).filter(([name]) => name !== "host" && name !== "connection") as [string, string][],
      ...(pieces.length === 0 ? {} : { body: Buffer.concat(pieces) }),
    });
    if (request.method === "POST" && request.url?.endsWith("/api-keys") && lost.includes(++answered)) {
      // Broken off within the answer, because the client would retry a request that got no answer at all.
      response.writeHead(answer.status, { "content-length": "1000" });
      response.write("{", () => response.destroy());
    } else response.writeHead(answer.status, { "content-type": "application/json" }).end(await answer.text());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, end: () => new Promise((resolve) => server.close(() => resolve())) };
}

test("an API key whose response was lost is fetched by the next apply; one no longer available is reported", async () => {
  const tenant = await newTenant("half-keyed");
  const path = await file(
    "half-keyed.yaml",
    `${HEAD}resource_groups: [{ name: g }]\napi_keys: [{ resource_group_id: g, name: one }, { resource_group_id: g, name: two }]\n`,
  );
  const control = await losingAnswers([1, 3]);
  const keys = join(directory, "half-keyed.json");
  const apply = async () => {
    const told = { out: "", err: "" };
    const io = { stdout: (text: string) => void (told.out += text), stderr: (text: string) => void (told.err += text) };
    const args = ["apply", path, "--keys-file", keys, "--url", control.url, "--tenant", tenant];
    return { code: await configCommand(args, { GATEHOUSE_ADMIN_PASSWORD: ADMIN_PASSWORD }, io), ...told };
  };
  const begun = `${keys}.unfinished`;
  const kept = async (name = keys) => JSON.parse(await readFile(name, "utf8")) as Record<string, string>;

  expect(await apply()).toMatchObject({ code: 1, err: expect.stringContaining(`${control.url} did not answer`) });
  expect([await kept(), Object.keys(await kept(begun))]).toEqual([{}, ["g / one"]]);
  expect((await stat(begun)).mode & 0o077).toBe(0);
  const second = await apply();
  expect(second).toMatchObject({ code: 1, err: expect.stringContaining('the value of api_keys "g / one"') });
  const value = (await kept())["g / one"] ?? "";
  const listed = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/models`, { headers: { "x-api-key": value } });
  expect(listed.status).toBe(200);

  // The state a day later: the key exists, but its idempotent answer is no longer stored.
  const { "g / two": two } = JSON.parse(await readFile(begun, "utf8"));
  await writeFile(begun, JSON.stringify({ "g / two": { ...two, once: "another" } }));
  const third = await apply();
  expect(third).toMatchObject({ code: 0, out: "Nothing was to be done.\n" });
  expect(third.err).toMatch(/asked for api_keys "g \/ two", and its value cannot be had any more .* rotate it/);
  expect([await kept(), existsSync(begun)]).toEqual([{ "g / one": value }, false]);
  expect(await apply()).toMatchObject({ code: 0, err: "" });
  await control.end();
});

describe("records with the same name", () => {
  async function createSameNamed(tenant: string) {
    const own = `?tenant_id=${tenant}`;
    const make = async (path: string, body: object): Promise<string> => (await world.admin.post(`/v1/admin/${path}${own}`, body)).id;
    const group = await make("resource-groups", { name: "team" });
    const [first, second] = [
      await make("mcp-servers", { name: "search", base_url: "http://127.0.0.1:9/", description: "one" }),
      await make("mcp-servers", { name: "search", base_url: "http://127.0.0.1:8", auth_type: "oauth" }),
    ];
    const client = { issuer: "https://accounts.example", client_id: "gateway", token_endpoint_auth_method: "none" };
    await world.admin.request("PUT", `/v1/admin/mcp-servers/${second}/oauth-client${own}`, client);
    await make("server-configs", { name: "of the first", mcp_server_id: first, group_ids: [group] });
    await make("virtual-servers", {
      name: "both",
      members: [
        { mcp_server_id: first, slug: "a" },
        { mcp_server_id: second, slug: "b" },
      ],
    });
    const limits = { limits: { frequency: { max_calls_per_day: 3 } } };
    await world.admin.request("PATCH", `/v1/admin/resource-groups/${group}/mcp-servers/${second}/limits${own}`, limits);
    const agent = await make("agents", { card_name: "helper", name: "Helper", base_url: "http://127.0.0.1:9", auth_type: "none" });
    const grant = { agent_id: agent, group_ids: [group] };
    await make("agent-grants", { ...grant, skill_ids: ["b"], decision: "deny" });
    await make("agent-grants", { ...grant, skill_ids: ["a"], max_depth: 2 });
    await make("agent-grants", { ...grant, skill_ids: ["a"], max_depth: 3 });
  }

  test("are exported, applied to another tenant and exported identically", async () => {
    const [from, to] = [await newTenant("twice"), await newTenant("twice-again")];
    await createSameNamed(from);
    const exported = await config(from, ["export"]);
    const path = await file("twice.yaml", exported.out);
    expect(await config(from, ["plan", path])).toEqual(NOTHING);
    expect(await config(to, ["apply", path])).toMatchObject({ code: 0, err: "" });
    expect(await config(to, ["plan", path, "--prune"])).toEqual(NOTHING);
    expect((await config(to, ["export"])).out).toBe(exported.out);
    const changed = await file(
      "changed.yaml",
      exported.out.replace("max_depth: 3", "max_depth: 4").replace("description: one", "description: two"),
    );
    expect((await config(to, ["plan", changed])).out.match(/^[~+-].*$/gm)).toEqual([
      '~ mcp_servers "search (http://127.0.0.1:9/mcp)"',
      '~ agent_grants "helper / team (allow a) 2"',
    ]);
    const fewer = await file("fewer.yaml", `${HEAD}mcp_servers: [{ name: search, base_url: "http://127.0.0.1:8" }]\n`);
    expect((await config(to, ["plan", fewer, "--prune"])).out).toBe('- mcp_servers "search (http://127.0.0.1:9/mcp)"\n');
    const unclear = await file("unclear.yaml", `${HEAD}server_configs: [{ name: of the first, mcp_server_id: search }]\n`);
    expect((await config(to, ["plan", unclear])).err).toContain(
      'names "search", of which there are several: say "search (http://127.0.0.1:8/mcp)" or "search (http://127.0.0.1:9/mcp)"',
    );
  });
});

test("sections may be partial; null removes a group's notice and a tool server's OAuth client", async () => {
  const tenant = await newTenant("in-part");
  const text = (notice: string, client: string) => `${HEAD}
gdpr_statements: { controller: Example Ltd }
discovery_settings: { gateway_origins: ["https://gateway.example"] }
resource_groups: [{ name: g, notice: ${notice} }]
mcp_servers: [{ name: s, base_url: "http://127.0.0.1:9", auth_type: oauth, oauth_client: ${client} }]
ai_systems: [{ group_id: g, envelope: { autonomy_level: approval_required } }]
`;
  const made = await file(
    "made.yaml",
    text("{ texts: { en: Hello. } }", '{ issuer: "https://a.example", client_id: c, client_secret: { from_env: SECRET } }'),
  );
  expect((await config(tenant, ["plan", made])).err).toContain('mcp_servers "s": oauth_client: SECRET is not set');
  const env = { SECRET: "a-secret-of-its-own-01" };
  expect(await config(tenant, ["apply", made], env)).toMatchObject({ code: 0, err: "" });
  expect(await config(tenant, ["plan", made], env)).toEqual(NOTHING);
  expect((await config(tenant, ["apply", made], env)).out).toBe("Nothing was to be done.\n");
  expect((await config(tenant, ["apply", made], { SECRET: "a-secret-of-its-own-02" })).out).toContain("oauth_client: another secret");
  const gone = await file("gone.yaml", text("null", "null"));
  expect((await config(tenant, ["apply", gone])).out).toContain("2 changes made.");
  expect(await config(tenant, ["plan", gone])).toEqual(NOTHING);
  expect((await config(tenant, ["export"])).out).not.toMatch(/oauth_client|Hello/);
});
