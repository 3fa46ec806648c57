import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { handshakeFixture } from "../../conformance/handshake-fixture.ts";
import { statelessFixture } from "../../conformance/stateless-fixture.ts";
import { startWorld, type World } from "../../support/world.ts";
import { grant, newTeam, type Team } from "./mcp-harness.ts";

/** A Python with the official SDK. It is not an npm package, so install it to run these tests, as .ci/run does. */
const PYTHON = process.env.MCP_PYTHON;
const SCRIPT = fileURLToPath(new URL("./python-client.py", import.meta.url));

if (PYTHON === undefined)
  console.log(
    "The Python client is left out: MCP_PYTHON names no Python that has it (python3 -m venv DIR && DIR/bin/pip install -r tests/e2e/tools/python-client.txt).",
  );
else {
  let world: World;
  let team: Team;
  const urls: Record<string, string> = {};
  const serving: { stop(force?: boolean): Promise<void> }[] = [];

  beforeAll(async () => {
    world = await startWorld();
    team = await newTeam(world.admin, "python");
    for (const [name, fixture] of [
      ["handshake", handshakeFixture()],
      ["stateless", statelessFixture()],
    ] as const) {
      const server = Bun.serve({ hostname: "127.0.0.1", port: 0, idleTimeout: 0, fetch: (request) => fixture.fetch(request) });
      serving.push(server);
      const { id } = await world.admin.post("/v1/admin/mcp-servers", {
        tenant_id: "default",
        name,
        base_url: `http://127.0.0.1:${server.port}`,
      });
      await grant(world.admin, name, id, [team.groupId]);
      urls[name] = `${world.gateway.runtimeUrl}/v1/proxy/mcp/${id}`;
    }
  });
  afterAll(async () => {
    await world.end();
    await Promise.all(serving.map((server) => server.stop(true)));
  });

  const run = (mode: string, url: string) =>
    new Promise<any>((resolve, reject) => {
      const child = spawn(PYTHON, [SCRIPT, mode, url, team.apiKey], { stdio: ["ignore", "pipe", "pipe"] });
      let out = "";
      let problems = "";
      child.stdout.on("data", (piece: Buffer) => (out += piece.toString()));
      child.stderr.on("data", (piece: Buffer) => (problems += piece.toString()));
      child.on("error", reject);
      child.on("exit", (code) =>
        code === 0 ? resolve(JSON.parse(out)) : reject(new Error(`Python ended with ${code}: ${problems.slice(-3000)}`)),
      );
    });

  describe.each([
    ["legacy", "handshake", "2025-11-25"],
    ["legacy", "stateless", "2025-11-25"],
    ["2026-07-28", "handshake", "2026-07-28"],
    ["2026-07-28", "stateless", "2026-07-28"],
    ["auto", "handshake", "2026-07-28"],
    ["auto", "stateless", "2026-07-28"],
  ])("the Python client in mode %s", (mode, server, version) => {
    test(`lists, calls, answers questions and samples at a ${server} server`, async () => {
      const said = await run(mode, urls[server] ?? "");
      expect(said).toMatchObject({ version, elicitation: "Ada likes blue", sampling: "LLM response: Paris" });
      expect(said.tools).toBeGreaterThan(20);
      expect(said.call).toContain("simple text");
      expect(said.resource.length + said.prompt.length).toBeGreaterThan(10);
    });
  });
}
