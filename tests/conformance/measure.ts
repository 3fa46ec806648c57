import { fileURLToPath } from "node:url";
import { newTeam } from "../e2e/mcp-harness.ts";
import type { World } from "../support/world.ts";
import { judge, judgeClient, type Revision, type Verdict } from "./suite.ts";
import type { Governed, ServerDialect } from "./through-gateway.ts";

/** What one revision requires of servers, of a server of one dialect: through the gateway, and without it. */
export interface ServerMeasure {
  readonly revision: Revision;
  readonly dialect: ServerDialect;
  readonly through: readonly Verdict[];
  readonly direct: readonly Verdict[];
}

export interface ClientMeasure {
  readonly revision: Revision;
  readonly verdict: Verdict;
}

/** The requirement sets and dialects that are measured, in the order they are told. */
export const SERVER_PAIRS = [
  ["2025-11-25", "handshake"],
  ["2026-07-28", "stateless"],
  ["2025-11-25", "stateless"],
  ["2026-07-28", "handshake"],
] as const;

/** What is asked of the gateway as a client: everything of 2026-07-28 that is not about authorization, and the core of 2025-11-25. */
export const CLIENT_SCENARIOS: readonly (readonly [Revision, string])[] = [
  ...["initialize", "tools_call", "sse-retry"].map((scenario) => ["2025-11-25", scenario] as const),
  ...["tools_call", "request-metadata", "http-standard-headers", "http-custom-headers", "http-invalid-tool-headers", "json-schema-ref-no-deref", "sep-2322-client-request-state"].map((scenario) => ["2026-07-28", scenario] as const),
];

export async function measureServer(governed: Governed, revision: Revision, dialect: ServerDialect): Promise<ServerMeasure> {
  const through = await judge(governed[dialect], revision);
  return { revision, dialect, through, direct: await judge(governed.direct[dialect], revision) };
}

// The suite hands its command to a shell.
const quoted = (path: string) => `'${path.replaceAll("'", "'\\''")}'`;
const DRIVER = `${quoted(process.execPath)} ${quoted(fileURLToPath(new URL("client-driver.ts", import.meta.url)))}`;

/** Judges scenarios of clients one after the other, each with the gateway of `world` as the client. */
export async function clientMeter(world: World): Promise<(revision: Revision, scenario: string) => Promise<ClientMeasure>> {
  const team = await newTeam(world.admin, "driver");
  const env = { DRIVER_ADMIN_URL: world.gateway.adminUrl, DRIVER_RUNTIME_URL: world.gateway.runtimeUrl, DRIVER_API_KEY: team.apiKey, DRIVER_GROUP_ID: team.groupId };
  return async (revision, scenario) => ({ revision, verdict: await judgeClient(DRIVER, scenario, revision, env) });
}
