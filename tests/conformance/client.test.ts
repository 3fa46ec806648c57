import { afterAll, beforeAll, expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { newTeam } from "../e2e/mcp-harness.ts";
import { startWorld, type World } from "../support/world.ts";
import { judgeClient } from "./suite.ts";

let world: World;
let env: Record<string, string>;
// The suite hands its command to a shell.
const quoted = (path: string) => `'${path.replaceAll("'", "'\\''")}'`;
const DRIVER = `${quoted(process.execPath)} ${quoted(fileURLToPath(new URL("client-driver.ts", import.meta.url)))}`;

beforeAll(async () => {
  world = await startWorld();
  const team = await newTeam(world.admin, "driver");
  env = { DRIVER_ADMIN_URL: world.gateway.adminUrl, DRIVER_RUNTIME_URL: world.gateway.runtimeUrl, DRIVER_API_KEY: team.apiKey, DRIVER_GROUP_ID: team.groupId };
});
afterAll(() => world.end());

test.each(["initialize", "tools_call", "sse-retry"])("what 2025-11-25 requires of a client, of the gateway as one: %s", async (scenario) => {
  expect(await judgeClient(DRIVER, scenario, "2025-11-25", env)).toEqual({ scenario, passed: true, failures: [] });
}, 60_000);

test.each(["tools_call", "request-metadata", "http-standard-headers", "http-custom-headers", "http-invalid-tool-headers", "json-schema-ref-no-deref", "sep-2322-client-request-state"])(
  "what 2026-07-28 requires of a client, of the gateway as one: %s",
  async (scenario) => {
    expect(await judgeClient(DRIVER, scenario, "2026-07-28", env)).toEqual({ scenario, passed: true, failures: [] });
  },
  60_000,
);
