import { fileURLToPath } from "node:url";
import type { ClientGateway } from "./client-gateway.ts";
import { judge, judgeClient, type Revision, type ScenarioVerdict } from "./suite.ts";
import type { Governed, ServerDialect } from "./through-gateway.ts";

/** Verdicts on what one revision requires of servers, for a server of one dialect: through the gateway and without it. */
export interface ServerMeasure {
  readonly revision: Revision;
  readonly dialect: ServerDialect;
  readonly through: readonly ScenarioVerdict[];
  readonly direct: readonly ScenarioVerdict[];
}

export interface ClientMeasure {
  readonly revision: Revision;
  readonly verdict: ScenarioVerdict;
}

/** The pairs of revision and dialect that are measured, in the order of the report. */
export const SERVER_PAIRS = [
  ["2025-11-25", "handshake"],
  ["2026-07-28", "stateless"],
  ["2025-11-25", "stateless"],
  ["2026-07-28", "handshake"],
] as const;

/** Authorization scenarios that both revisions require of clients. */
const AUTHORIZATION = [
  ...[
    "metadata-default",
    "metadata-var1",
    "metadata-var2",
    "metadata-var3",
    "basic-cimd",
    "scope-from-www-authenticate",
    "scope-from-scopes-supported",
    "scope-omitted-when-undefined",
    "scope-step-up",
    "scope-retry-limit",
  ],
  ...["token-endpoint-auth-basic", "token-endpoint-auth-post", "token-endpoint-auth-none", "pre-registration"],
];
const LATER_AUTHORIZATION = [
  "resource-mismatch",
  "offline-access-scope",
  "offline-access-not-supported",
  "authorization-server-migration",
  "iss-supported",
  "iss-not-advertised",
  "iss-supported-missing",
  "iss-wrong-issuer",
  "iss-unexpected",
  "iss-normalized",
  "metadata-issuer-mismatch",
];
const under = (names: readonly string[]) => names.map((name) => `auth/${name}`);

/** Scenarios with the gateway as the client: all that either revision requires of clients. */
export const CLIENT_SCENARIOS: readonly (readonly [Revision, string])[] = [
  ...["initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry", ...under(AUTHORIZATION)].map(
    (scenario) => ["2025-11-25", scenario] as const,
  ),
  ...[
    "tools_call",
    "request-metadata",
    "http-standard-headers",
    "http-custom-headers",
    "http-invalid-tool-headers",
    "json-schema-ref-no-deref",
    "sep-2322-client-request-state",
    ...under([...AUTHORIZATION, ...LATER_AUTHORIZATION]),
  ].map((scenario) => ["2026-07-28", scenario] as const),
];

export async function measureServer(governed: Governed, revision: Revision, dialect: ServerDialect): Promise<ServerMeasure> {
  const through = await judge(governed[dialect], revision);
  return { revision, dialect, through, direct: await judge(governed.direct[dialect], revision) };
}

// The suite passes its command to a shell.
const quoted = (path: string) => `'${path.replaceAll("'", "'\\''")}'`;
const command = (driver: URL) => `${quoted(process.execPath)} ${quoted(fileURLToPath(driver))}`;
const DRIVER = command(new URL("client-driver.ts", import.meta.url));
const AUTH_DRIVER = command(new URL("auth-driver.ts", import.meta.url));

/** Runs one scenario with the gateway as the client. */
export async function measureClient(gateway: ClientGateway, revision: Revision, scenario: string): Promise<ClientMeasure> {
  const driver = scenario.startsWith("auth/") ? AUTH_DRIVER : DRIVER;
  return { revision, verdict: await gateway.during((env) => judgeClient(driver, scenario, revision, env)) };
}
