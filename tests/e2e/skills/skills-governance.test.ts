import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type AdminClient, rowOf, signIn, signInAsApprover } from "../../support/worlds/admin.ts";
import { ADMIN_PASSWORD } from "../../support/gateway.ts";
import { startWorld, type World } from "../../support/world.ts";
import { newTeam, post, stateless, type Team } from "../tools/mcp-harness.ts";

/** What applies to calls of skills: grants, keys, approvals, policies, guardrails and limits, each recorded in one row. */
let world: World;
let admin: AdminClient;
let approver: AdminClient;
let team: Team;
let url: string;
let skillId: string;
let otherId: string;
let groupPath: string;

const document = (name: string) => `---\nname: ${name}\ndescription: About ${name}.\n---\nRun scripts/say.sh.\n`;
const SAY = { path: "scripts/say.sh", content: 'echo "said $1"\n' };

async function published(files: object[], version = 1): Promise<string> {
  const { skill } = await admin.post("/v1/admin/agent-skills/import", { files });
  await admin.post(`/v1/admin/agent-skills/${skill.id}/versions/${version}/publish`, {});
  return skill.id;
}

beforeAll(async () => {
  world = await startWorld();
  const account = { tenant_id: "default", username: "keeper-of-skills", password: ADMIN_PASSWORD };
  await world.admin.post("/v1/admin/admin-users", { ...account, role: "owner" });
  admin = await signIn(world.gateway.adminUrl, account, "tenant");
  approver = await signInAsApprover(world.gateway.adminUrl, world.admin);
  team = await newTeam(admin, "governed");
  groupPath = `/v1/admin/resource-groups/${team.groupId}`;
  skillId = await published([
    { path: "SKILL.md", content: document("talker") },
    SAY,
    { path: "scripts/sign.sh", content: 'echo "signed $1"\n' },
  ]);
  otherId = await published([{ path: "SKILL.md", content: document("other") }, SAY]);
  await admin.request("PATCH", `/v1/admin/agent-skills/${skillId}`, { approval_required_scripts: ["scripts/sign.sh"] });
  await admin.post(`${groupPath}/agent-skills`, { skill_ids: [skillId, otherId] });
  url = `${world.gateway.runtimeUrl}/v1/proxy/mcp/system-agent-skill-server-default`;
});
afterAll(() => world.end());

let asked = 0;
async function use(name: string, args: Record<string, unknown>, key = team.apiKey, headers: Record<string, string> = {}) {
  const answer = await post(url, key, stateless(++asked, "tools/call", { name, arguments: args }), headers);
  const { content, isError, structuredContent } = answer.body.result ?? {};
  const id = answer.headers.get("x-request-id") ?? "";
  return { ...answer, said: content?.[0]?.text as string, isError, structured: structuredContent, row: () => rowOf(admin, { id }) };
}
const run = (script: string, args: unknown, rest: Record<string, unknown> = {}, key = team.apiKey) =>
  use("skills__run_script", { skill_name: "talker", script, args, ...rest }, key);

describe("the row of a skill call", () => {
  test("has the operation, the skill, and the outcome of a script", async () => {
    const row = await (await run("scripts/say.sh", ["hello"])).row();
    expect(row).toMatchObject({
      proxy_type: "skill",
      proxy_subtype: "skill_run",
      skill_id: skillId,
      trace_root_kind: "skill_execution",
      mcp_capability_name: "skills__run_script",
      server_id: "system-agent-skill-server-default",
      success: true,
      target_url: "skill://default/talker",
    });
    expect(row.skill_execution_id).toMatch(/^skillrun-[0-9A-Z]{26}$/);
    expect(row.custom_metadata.skill).toMatchObject({
      name: "talker",
      version: 1,
      script: "scripts/say.sh",
      exit_code: 0,
      sandbox: "bubblewrap",
    });
    for (const [tool, args, subtype] of [
      ["skills__load", {}, "skill_load"],
      ["skill__talker", {}, "skill_load"],
      ["skills__read_resource", { path: "SKILL.md" }, "skill_read"],
      ["skills__render_template", { template: "none.md" }, "skill_render"],
    ] as const) {
      const told = await (await use(tool, tool === "skill__talker" ? {} : { skill_name: "talker", ...args })).row();
      expect([tool, told.proxy_subtype, told.skill_id, told.http_status_code]).toEqual([tool, subtype, skillId, 200]);
    }
    // Only runs count as executions; loading and rendering do not.
    const counted = async () => (await admin.get(`/v1/admin/agent-skills/${skillId}`)).execution_count;
    expect(await counted()).toBe(1);
  });
});

describe("access to a skill", () => {
  test("follows its grants, and the allow-list of an API key", async () => {
    const stranger = await newTeam(admin, "ungranted");
    expect((await use("skills__list", {}, stranger.apiKey)).structured).toEqual({ skills: [] });
    const refused = await use("skills__load", { skill_name: "talker" }, stranger.apiKey);
    expect([refused.status, refused.isError, refused.said]).toEqual([200, true, "There is no such skill for this caller."]);
    expect(await refused.row()).toMatchObject({
      success: false,
      error_type: "skill_not_found",
      proxy_subtype: "skill_load",
      http_status_code: 200,
    });

    const key = await admin.post(`${groupPath}/api-keys`, { name: "narrow", access_mode: "shared", allowed_skill_ids: [otherId] });
    expect((await use("skills__list", {}, key.key_value)).structured.skills.map(({ name }: any) => name)).toEqual(["other"]);
    expect((await use("skills__load", { skill_name: "talker" }, key.key_value)).isError).toBe(true);
    expect((await use("skills__load", { skill_name: "other" }, key.key_value)).isError).toBe(false);
  });

  test("ends with the next call once the skill is disabled", async () => {
    const gone = await published([{ path: "SKILL.md", content: document("short-lived") }]);
    const load = async () => (await use("skills__load", { skill_name: "short-lived" })).isError;
    expect(await load()).toBe(true);
    await admin.post(`${groupPath}/agent-skills`, { skill_ids: [gone] });
    expect(await load()).toBe(false);
    await admin.request("PATCH", `/v1/admin/agent-skills/${gone}`, { enabled: false });
    expect(await load()).toBe(true);
  });

  test("is refused to other tenants and without a key", async () => {
    await world.admin.post("/v1/admin/tenants", { id: "others", name: "others" });
    const theirs = await newTeam(world.admin, "their team", {}, "others");
    expect((await use("skills__list", {}, theirs.apiKey)).status).toBe(404);
    const own = `${world.gateway.runtimeUrl}/v1/proxy/mcp/system-agent-skill-server-others`;
    const listed = await post(own, theirs.apiKey, stateless(1, "tools/call", { name: "skills__list", arguments: {} }));
    expect(listed.body.result.structuredContent).toEqual({ skills: [] });
    expect((await post(own, team.apiKey, stateless(1, "tools/call", { name: "skills__list", arguments: {} }))).status).toBe(404);
    expect((await post(url, "sk_gw_api_unknown", stateless(1, "tools/list"))).status).toBe(401);
  });
});

describe("a script that needs approval", () => {
  test("runs once with the approval token, with the approved arguments and version only", async () => {
    const held = await run("scripts/sign.sh", ["contract"]);
    expect([held.status, held.isError]).toEqual([200, false]);
    expect(held.structured).toMatchObject({ status: "pending_approval", execution_id: expect.stringMatching(/^skillrun-/) });
    expect(await held.row()).toMatchObject({
      proxy_subtype: "approval_required",
      skill_id: skillId,
      agent_authz_decision: "approval_required",
    });
    const { approval_token: token } = await approver.post(`/v1/admin/approvals/${held.structured.approval_id}/approve`, {});
    const retried = (args: unknown, approval = token) => run("scripts/sign.sh", args, { approval_token: approval });
    expect((await retried(["another"])).said).toContain("approval token is not valid");
    const done = await retried(["contract"]);
    expect([done.isError, done.said]).toEqual([false, "signed contract\n"]);
    const row = await done.row();
    expect(row.consumed_approval_request_id).toBe(held.structured.approval_id);
    expect(JSON.stringify(row)).not.toContain(token);
    expect((await retried(["contract"])).isError).toBe(true);
  });

  test("is not covered by the approval of another version", async () => {
    const held = await run("scripts/sign.sh", ["deed"]);
    const { approval_token: token } = await approver.post(`/v1/admin/approvals/${held.structured.approval_id}/approve`, {});
    await admin.post("/v1/admin/agent-skills/import", {
      files: [{ path: "SKILL.md", content: document("talker") }, SAY, { path: "scripts/sign.sh", content: "echo forged\n" }],
    });
    await admin.post(`/v1/admin/agent-skills/${skillId}/versions/2/publish`, {});
    expect((await run("scripts/sign.sh", ["deed"], { approval_token: token })).isError).toBe(true);
    await admin.post(`/v1/admin/agent-skills/${skillId}/versions/1/publish`, {});
    expect((await run("scripts/sign.sh", ["deed"], { approval_token: token })).said).toBe("signed deed\n");
  });
});

describe("policies on skills", () => {
  test("refuse a script by its arguments, and guardrails inspect input and output", async () => {
    const watched = await newTeam(admin, "watched");
    await admin.post(`/v1/admin/resource-groups/${watched.groupId}/agent-skills`, { skill_ids: [skillId] });
    await admin.post("/v1/admin/guardrails/configs", {
      tenant_id: "default",
      name: "skill wall",
      group_ids: [watched.groupId],
      surfaces: { skill_input: true, skill_output: true },
      builtin: { banned_words: ["project titan"], pii_enabled: true, pii_action: "redact" },
    });
    await admin.post("/v1/admin/argument-policies", {
      tenant_id: "default",
      name: "no deletion",
      target: "skills__run_script",
      argument_key: "args",
      analyzer: "sql",
      rules: [{ deny_if: "writes", message: "Reading only." }],
      group_ids: [watched.groupId],
    });
    const blocked = await run("scripts/say.sh", ["project titan"], {}, watched.apiKey);
    expect([blocked.status, blocked.isError]).toEqual([200, true]);
    expect(await blocked.row()).toMatchObject({ guardrail_blocked: true, error_type: "guardrail_blocked", proxy_subtype: "skill_run" });
    const redacted = await run("scripts/say.sh", ["ada@example.com"], {}, watched.apiKey);
    expect(redacted.said).not.toContain("ada@");
    const denied = await run("scripts/say.sh", ["DELETE FROM orders"], {}, watched.apiKey);
    expect(denied.isError).toBe(true);
    expect(await denied.row()).toMatchObject({ argument_policy_denied: true, error_type: "argument_policy_denied" });
  });

  test("have guardrails inspect the files a script creates; none is stored of a withheld answer", async () => {
    const writing = await newTeam(admin, "writing");
    const writer = await published([
      { path: "SKILL.md", content: document("writer") },
      { path: "scripts/write.sh", content: 'echo "$1" > /output/one.txt\necho "$2" > /output/two.txt\necho "$3"\n' },
    ]);
    await admin.post(`/v1/admin/resource-groups/${writing.groupId}/agent-skills`, { skill_ids: [writer] });
    await admin.post("/v1/admin/guardrails/configs", {
      tenant_id: "default",
      name: "output wall",
      group_ids: [writing.groupId],
      surfaces: { skill_output: true },
      builtin: { banned_words: ["project titan"], pii_enabled: true, pii_action: "redact" },
    });
    const write = (...words: string[]) =>
      use("skills__run_script", { skill_name: "writer", script: "scripts/write.sh", args: words }, writing.apiKey);
    const api = async (path: string) =>
      fetch(world.gateway.runtimeUrl + path, { headers: { "x-api-key": writing.apiKey } }).then((answer) => answer.text());
    const kept = async () => JSON.parse(await api("/v1/proxy/files")).files.length;
    const inFile = await write("fine", "project titan", "done");
    expect(inFile.isError).toBe(true);
    expect(await inFile.row()).toMatchObject({ guardrail_blocked: true, error_type: "guardrail_blocked" });
    expect(await kept()).toBe(0);
    expect((await write("fine", "fine", "project titan")).isError).toBe(true);
    expect(await kept()).toBe(0);

    const passed = await write("to ada@example.com", "fine", "done");
    expect([passed.isError, passed.said]).toEqual([false, "done\n"]);
    const { content } = passed.body.result;
    expect(await api(content[1].uri)).not.toContain("ada@");
    expect(await kept()).toBe(2);
  });

  test("apply to a file read as a resource as to one read by the tool", async () => {
    const reading = await newTeam(admin, "reading");
    const kept = await published([
      { path: "SKILL.md", content: document("keeper") },
      { path: "references/secret.md", content: "the secret" },
    ]);
    await admin.post(`/v1/admin/resource-groups/${reading.groupId}/agent-skills`, { skill_ids: [kept] });
    await admin.post("/v1/admin/argument-policies", {
      tenant_id: "default",
      name: "no secrets",
      target: "skills__read_resource",
      argument_key: "path",
      analyzer: "json_schema",
      schema: { type: "string", not: { pattern: "secret" } },
      rules: [{ deny_if: "invalid", message: "Not this one." }],
      group_ids: [reading.groupId],
    });
    const byTool = await use("skills__read_resource", { skill_name: "keeper", path: "references/secret.md" }, reading.apiKey);
    const resource = (path: string) =>
      post(url, reading.apiKey, stateless(++asked, "resources/read", { uri: `skill://default/keeper/${path}` }));
    const byResource = await resource("references/secret.md");
    expect([byTool.isError, byResource.body.error.data.code]).toEqual([true, "argument_policy_denied"]);
    for (const { headers } of [byTool, byResource])
      expect(await rowOf(admin, { id: headers.get("x-request-id") ?? "" })).toMatchObject({ argument_policy_denied: true });
    expect((await resource("SKILL.md")).body.result.contents).toHaveLength(1);
  });

  test("have guardrails inspect the skills in the instructions, in both protocol versions", async () => {
    const told = await newTeam(admin, "told");
    const described = (name: string, what: string) =>
      published([{ path: "SKILL.md", content: `---\nname: ${name}\ndescription: ${what}\n---\nRun it.\n` }]);
    const mailed = await described("mailed", "Ask ada@example.com first.");
    await admin.post(`/v1/admin/resource-groups/${told.groupId}/agent-skills`, { skill_ids: [skillId, mailed] });
    await admin.post("/v1/admin/guardrails/configs", {
      ...{ tenant_id: "default", name: "skill words", group_ids: [told.groupId], surfaces: { skill_output: true } },
      builtin: { banned_words: ["project titan"], pii_enabled: true, pii_action: "redact" },
    });
    const client = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "c", version: "1" } };
    const asks = [{ jsonrpc: "2.0", id: 1, method: "initialize", params: client }, stateless(++asked, "server/discover", {})];
    const instructions = async (key: string) =>
      Promise.all(asks.map(async (body) => (await post(url, key, body)).body.result.instructions as string));
    for (const said of await instructions(told.apiKey))
      expect(said).toEndWith("- mailed: Ask [REDACTED:email] first.\n- talker: About talker.");
    const titan = await described("titan", "All about Project Titan.");
    await admin.post(`/v1/admin/resource-groups/${told.groupId}/agent-skills`, { skill_ids: [titan] });
    for (const said of await instructions(told.apiKey)) expect(said).toEndWith("- mailed\n- talker\n- titan");
    for (const said of await instructions(team.apiKey)) expect(said).toContain("- talker: About talker.");
  });

  test("limit the group's and a single skill's calls, and end a script that takes too long", async () => {
    const limited = await newTeam(admin, "limited");
    const path = `/v1/admin/resource-groups/${limited.groupId}`;
    await admin.post(`${path}/agent-skills`, { skill_ids: [skillId, otherId] });
    const slow = await published([
      { path: "SKILL.md", content: document("slow") },
      { path: "scripts/wait.sh", content: "sleep 60\n" },
    ]);
    await admin.post(`${path}/agent-skills`, { skill_ids: [slow] });
    await admin.request("PATCH", `${path}/agent-skills/${slow}/limits`, { limits: { execution: { timeout_seconds: 1 } } });
    const ended = await use("skills__run_script", { skill_name: "slow", script: "scripts/wait.sh" }, limited.apiKey);
    expect([ended.isError, ended.said]).toEqual([true, "The script was ended after 1 seconds."]);
    expect((await ended.row()).custom_metadata.skill.end).toBe("deadline");

    await admin.request("PATCH", `${path}/agent-skills/${skillId}/limits`, { limits: { frequency: { max_calls_per_day: 1 } } });
    expect((await run("scripts/say.sh", [], {}, limited.apiKey)).isError).toBe(false);
    const over = await run("scripts/say.sh", [], {}, limited.apiKey);
    expect([over.status, over.body.error.data.code]).toEqual([429, "usage_limit_reached"]);
    expect((await use("skills__load", { skill_name: "other" }, limited.apiKey)).isError).toBe(false);
    await admin.request("PATCH", `${path}/skill-global-limits`, { skill_global_limits: { frequency: { max_calls_per_day: 3 } } });
    expect((await use("skills__load", { skill_name: "other" }, limited.apiKey)).status).toBe(429);
  });
});
