import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type AgentFixture, startAgent } from "../../support/tool-servers/agents.ts";
import { freePort } from "../../support/processes/free-port.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { startWorld, type World } from "../../support/world.ts";
import { artifactText, grantAgent, registerAgent } from "./a2a-harness.ts";
import { newTeam, type Team } from "../tools/mcp-harness.ts";

/** A Python with the official A2A SDK. It is not an npm package, so install it to run these tests. */
const PYTHON = process.env.A2A_PYTHON;
const SCRIPT = fileURLToPath(new URL("./a2a-python.py", import.meta.url));

if (PYTHON === undefined)
  console.log(
    "The Python agents are left out: A2A_PYTHON names no Python that has their SDK (python3 -m venv DIR && DIR/bin/pip install -r tests/e2e/agents/a2a-python.txt).",
  );
else {
  let world: World;
  let team: Team;
  const agents: AgentFixture[] = [];
  const servers: ChildProcess[] = [];

  const startPython = async (version: string): Promise<string> => {
    const port = await freePort();
    servers.push(spawn(PYTHON, [SCRIPT, "server", String(port), version], { stdio: "inherit" }));
    const url = `http://127.0.0.1:${port}`;
    const deadline = Date.now() + PATIENCE_MS;
    while (
      !(await fetch(`${url}/.well-known/agent-card.json`).then(
        ({ ok }) => ok,
        () => false,
      ))
    ) {
      if (Date.now() > deadline) throw new Error("the Python agent did not start");
      await Bun.sleep(100);
    }
    return url;
  };

  beforeAll(async () => {
    world = await startWorld();
    team = await newTeam(world.admin, "python");
    const [one, two] = [await startAgent("1.0"), await startAgent("0.3")];
    agents.push(one, two);
    const urls = { "js-1-0": one.url, "js-0-3": two.url, "py-1-0": await startPython("1.0"), "py-0-3": await startPython("0.3") };
    for (const [name, url] of Object.entries(urls)) {
      const { id, protocol_version: version } = await registerAgent(world.admin, name, url);
      expect([name, version]).toEqual([name, name.endsWith("1-0") ? "1.0" : "0.3"]);
      await grantAgent(world.admin, id, [team.groupId]);
    }
  });
  afterAll(async () => {
    for (const server of servers) server.kill("SIGKILL");
    await world?.end();
    await Promise.all(agents.map((agent) => agent.stop()));
  });

  const run = (name: string, binding: string) =>
    new Promise<any>((resolve, reject) => {
      const base = `${world.gateway.runtimeUrl}/a2a/default/${name}`;
      const child = spawn(PYTHON, [SCRIPT, "client", base, team.apiKey, binding], { stdio: ["ignore", "pipe", "pipe"] });
      let out = "";
      let problems = "";
      child.stdout.on("data", (piece: Buffer) => (out += piece.toString()));
      child.stderr.on("data", (piece: Buffer) => (problems += piece.toString()));
      child.on("error", reject);
      child.on("exit", (code) =>
        code === 0 ? resolve(JSON.parse(out)) : reject(new Error(`Python ended with ${code}: ${problems.slice(-3000)}`)),
      );
    });

  describe.each(["js-1-0", "js-0-3", "py-1-0", "py-0-3"])("the official Python client with agent %s", (name) => {
    test.each(["HTTP+JSON", "JSONRPC"])("verifies its card, sends, streams, reads and lists over %s", async (binding) => {
      const said = await run(name, binding);
      const artifact = name.startsWith("js") ? "numbers" : "said";
      expect(said.whole.at(-1).task).toMatchObject({
        status: { state: "TASK_STATE_COMPLETED" },
        artifacts: [{ parts: [{ text: "hello" }] }],
      });
      expect(said.task).toMatchObject({ id: said.whole.at(-1).task.id, status: { state: "TASK_STATE_COMPLETED" } });
      expect(artifactText(said.stream, artifact)).toBe("1;2;3;4;");
      expect(said.stream.at(-1)).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } });
      expect(said.listed).toBeGreaterThan(0);
      expect(said.missing).toBe("TaskNotFoundError");
    });
  });
}
