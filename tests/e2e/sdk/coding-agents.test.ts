import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type AgentRun, claudeCode, codex, FOUND } from "../../support/worlds/coding-agents.ts";
import { PROVIDERS } from "../../support/vendors/matrix.ts";
import { AFTER_TOOL, scripted } from "../../support/vendors/scene.ts";
import { type SdkWorld, startSdkWorld } from "../../support/vendors/sdk-world.ts";

/** Terminal coding agents, unchanged except for base URL and key: each runs a command that its model requested. */
let world: SdkWorld;

beforeAll(async () => {
  world = await startSdkWorld();
  await world.admin.post("/v1/admin/llms", {
    tenant_id: "default",
    name: "gpt-5.6-sol",
    provider: "fake-anthropic",
    model_name: "claude-sonnet-4-5",
    modes: ["chat"],
    group_ids: [world.groupId],
  });
});

afterAll(() => world.end());

const providers = PROVIDERS.filter(({ id }) => id !== "echo").map(({ id }) => id);
const gateway = () => ({ runtimeUrl: world.gateway.runtimeUrl, apiKey: world.apiKey });

function expectFinished({ exitCode, stdout, stderr }: AgentRun): void {
  expect({ exitCode, stderr: exitCode === 0 ? "" : stderr + stdout }).toEqual({ exitCode: 0, stderr: "" });
  expect(stdout).toContain(FOUND);
  expect(stdout).toContain(AFTER_TOOL);
}

describe("codex", () => {
  const command = scripted({ name: "exec_command", arguments: { cmd: "cat word.txt" } });
  // The tool is in a namespace; the agent itself answers that no agent of this name exists.
  const grouped = scripted({ name: "multi_agent_v1__close_agent", arguments: { target: "nobody" } });

  test.each(providers)("runs a tool call with %s", async (id) => {
    const told = id === "openai-responses" ? command : command + grouped;
    expectFinished(await codex(gateway(), `sdk-${id}`, told));
  });

  test("runs tools with non-JSON input, which it uses for models it knows", async () => {
    const code = 'const r = await tools.exec_command({cmd: "cat word.txt"}); text(r.output);';
    expectFinished(await codex(gateway(), "gpt-5.6-sol", scripted({ name: "functions__exec", arguments: { input: code } })));
  });
});

describe("claude code", () => {
  test.each(providers)("runs a tool call with %s", async (id) => {
    const prompt = scripted({ name: "Bash", arguments: { command: "cat word.txt", description: "Reads the word" } });
    expectFinished(await claudeCode(gateway(), `sdk-${id}`, prompt));
  });
});
