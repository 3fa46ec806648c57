import { afterAll, beforeAll, expect, test } from "bun:test";
import { rowsOf } from "../../support/worlds/admin.ts";
import { claudeCode } from "../../support/worlds/coding-agents.ts";
import { AFTER_TOOL, scripted } from "../../support/vendors/scene.ts";
import { type SdkWorld, startSdkWorld } from "../../support/vendors/sdk-world.ts";

/** Claude Code, unchanged, loads a skill from the gateway and runs one of its scripts. */
let world: SdkWorld;

beforeAll(async () => {
  world = await startSdkWorld();
  const files = [
    { path: "SKILL.md", content: "---\nname: greeter\ndescription: Greets people.\n---\nRun scripts/greet.py with a name.\n" },
    { path: "scripts/greet.py", content: "import sys\nprint('greetings to ' + sys.argv[1])\n" },
  ];
  const tenant = "tenant_id=default";
  const { skill } = await world.admin.post(`/v1/admin/agent-skills/import?${tenant}`, { files });
  await world.admin.post(`/v1/admin/agent-skills/${skill.id}/versions/1/publish?${tenant}`, {});
  await world.admin.post(`/v1/admin/resource-groups/${world.groupId}/agent-skills?${tenant}`, { skill_ids: [skill.id] });
});
afterAll(() => world.end());

// A separate prompt for each: the scripted model gives all its calls the same ID.
test.each([
  ["loads a skill", "skills__load", {}, "Run scripts/greet.py with a name.", "skill_load"],
  ["runs its script", "skills__run_script", { script: "scripts/greet.py", args: ["Ada"] }, "greetings to Ada", "skill_run"],
] as const)("claude code %s", async (_what, tool, args, said, subtype) => {
  const { runtimeUrl } = world.gateway;
  const server = {
    type: "http",
    url: `${runtimeUrl}/v1/proxy/mcp/system-agent-skill-server-default`,
    headers: { "x-api-key": world.apiKey },
  };
  const prompt = scripted({ name: `mcp__skills__${tool}`, arguments: { skill_name: "greeter", ...args } });
  const more = ["--mcp-config", JSON.stringify({ mcpServers: { skills: server } })];
  const { exitCode, stdout, stderr } = await claudeCode({ runtimeUrl, apiKey: world.apiKey }, "sdk-anthropic", prompt, more);
  expect({ exitCode, stderr: exitCode === 0 ? "" : stderr + stdout }).toEqual({ exitCode: 0, stderr: "" });
  expect(stdout).toContain(said);
  expect(stdout).toContain(AFTER_TOOL);
  expect(await rowsOf(world.admin, { proxy_subtype: subtype }, 1)).toHaveLength(1);
});
