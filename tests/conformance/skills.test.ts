import { afterAll, beforeAll, expect, test } from "bun:test";
import { newTeam } from "../e2e/tools/mcp-harness.ts";
import { LONG_TEST_MS } from "../support/patience.ts";
import { startWorld, type World } from "../support/world.ts";
import { judgeServer, type Revision } from "./suite.ts";

/**
 * Runs the protocol's own suite against the gateway's own server for skills: the scenarios of both revisions that need no fixture, and the
 * skills extension.
 */
let world: World;
let forwarder: { readonly port?: number | undefined; stop(closeActiveConnections?: boolean): Promise<void> };
let url: string;

beforeAll(async () => {
  world = await startWorld();
  const team = await newTeam(world.admin, "conformance");
  for (const name of ["first-skill", "second-skill"]) {
    const content = `---\nname: ${name}\ndescription: Shows a skill.\n---\n# ${name}\n`;
    const files = [
      { path: "SKILL.md", content },
      { path: "references/notes.md", content: "notes\n" },
      { path: "scripts/say.sh", content: "echo said\n" },
    ];
    const { skill } = await world.admin.post("/v1/admin/agent-skills/import?tenant_id=default", { files });
    await world.admin.post(`/v1/admin/agent-skills/${skill.id}/versions/1/publish?tenant_id=default`, {});
    await world.admin.post(`/v1/admin/resource-groups/${team.groupId}/agent-skills?tenant_id=default`, { skill_ids: [skill.id] });
  }
  forwarder = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const headers = new Headers(request.headers);
      headers.set("x-api-key", team.apiKey);
      const body = request.method === "POST" ? await request.text() : undefined;
      return fetch(`${world.gateway.runtimeUrl}/v1/proxy/mcp/system-agent-skill-server-default`, {
        method: request.method,
        headers,
        signal: request.signal,
        ...(body === undefined ? {} : { body }),
      });
    },
  });
  url = `http://127.0.0.1:${forwarder.port}/mcp`;
});
afterAll(async () => {
  await forwarder?.stop(true);
  await world.end();
});

const SCENARIOS: readonly (readonly [Revision, string])[] = [
  ...["server-initialize", "ping", "tools-list", "resources-list", "dns-rebinding-protection"].map((name) => ["2025-11-25", name] as const),
  ...["server-stateless", "tools-list", "resources-list", "caching", "sep-2164-resource-not-found", "dns-rebinding-protection"].map(
    (name) => ["2026-07-28", name] as const,
  ),
  ...["enumeration", "directory", "manifest"].map((name) => ["2026-07-28", `sep-2640-skills-${name}`] as const),
];

/** Checks that need a fixture's own tools, or prompts, neither of which this server has. */
const OF_FIXTURES = /^sep-2575-(?:server-rejects-undeclared-capability|missing-capability-http-400)|^sep-2549-prompts-list/;

test.each(SCENARIOS)(
  "the skill server passes the scenario of MCP %s: %s",
  async (revision, scenario) => {
    const { passed, failures } = await judgeServer(url, scenario, revision);
    const own = failures.filter((failure) => !OF_FIXTURES.test(failure));
    expect([own, passed || failures.length > 0]).toEqual([[], true]);
  },
  LONG_TEST_MS,
);
