import { openSharedFailures } from "./shared-failures.ts";
import { scriptTrial } from "../services/tools/skills/try-script.ts";
import { readGitBundle } from "../upstreams/git/read-bundle.ts";
import { Hono } from "hono";
import { KeySets } from "../directory/identity/key-sets.ts";
import { queuedHashing } from "../directory/people/portal/password-work.ts";
import { RefusedAttempts } from "../directory/people/refused-attempts.ts";
import { welcomeMailer } from "../directory/people/welcome-mail.ts";
import { type upstreamOf, usageVendors } from "../drivers.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Configuration } from "../kernel/configuration/configuration.ts";
import type { Log } from "../kernel/log.ts";
import type { SecretBox } from "../kernel/secrets.ts";
import type { MetricFigures, Telemetry } from "../kernel/telemetry/telemetry.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type Health, readiness } from "../runtime-plane.ts";
import { mailSender } from "../runtime/mail-sender.ts";
import { dummyVerify, hashCode, hashPassword, verifyCode, verifyPassword } from "../runtime/passwords.ts";
import { cardDiscovery } from "../services/agents/discover-card.ts";
import { policyBench } from "../controls/semantic-policies/policy-bench.ts";
import { searchBench } from "../services/knowledge/search-bench.ts";
import { tryImport } from "../services/usage-import/try-import.ts";
import { givesUpTokens } from "../services/tools/authorization/give-up-tokens.ts";
import { toolServerDiscovery } from "../services/tools/definitions/discovery.ts";
import type { Database } from "../store/database.ts";
import { controlApps } from "../surfaces/admin/control-apps.ts";
import { agentSend } from "../upstreams/agents/agent-send.ts";
import { issuerDocuments } from "../upstreams/identity/issuer-documents.ts";
import { oidcClient } from "../upstreams/identity/oidc-client.ts";
import { samlClient } from "../upstreams/identity/saml-client.ts";
import { toolServerSend } from "../upstreams/tool-servers/send.ts";
import { withSseServers } from "../upstreams/tool-servers/sse-servers.ts";
import { every } from "../workers/every.ts";

const ATTEMPT_INTERVAL_MS = 1_000;

interface ControlParts {
  readonly db: Database;
  readonly secrets: SecretBox;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Telemetry;
  readonly upstream: ReturnType<typeof upstreamOf>;
  /** Null when ready, else what is missing. */
  readonly notReady: Health["notReady"];
  /** The chain this process writes, and what the admin API needs to search, run scripts and try policies; null without the runtime role. */
  readonly runtime: {
    readonly ledger: Pick<Ledger, "status">;
    readonly knowledge: NonNullable<Parameters<typeof searchBench>[1]>;
    readonly skills: NonNullable<Parameters<typeof scriptTrial>[0]>;
    readonly judging: NonNullable<Parameters<typeof policyBench>[0]>;
  } | null;
  readonly signingKey: string;
  /** Metrics of the other processes of the group. */
  readonly otherFigures: () => Promise<readonly MetricFigures[]>;
  readonly gatewayOrigins: readonly string[];
}

/** The control plane's port: the admin API if the process has the control role, health and metrics always. */
export function openControlPlane(config: Configuration, parts: ControlParts) {
  const { db, secrets, clock, log, metrics, upstream, notReady, runtime, signingKey, gatewayOrigins } = parts;
  const health = {
    "/healthz": () => Response.json({ status: "ok" }),
    "/readyz": async (request: Request) => readyResponse({ notReady }, request),
    "/metrics": async () =>
      new Response(await metrics.render(await parts.otherFigures()), { headers: { "content-type": metrics.contentType } }),
  };
  const attempts = new RefusedAttempts(db, clock);
  const attemptsWriter = every(ATTEMPT_INTERVAL_MS, "write_refused_attempts", () => attempts.write(), { log, metrics });
  // A queue of its own, so that a flood of portal logins does not lock administrators out.
  const hashing = queuedHashing({ hashPassword, verifyPassword, dummyVerify, hashCode, verifyCode });
  const failures = openSharedFailures("admin", config, parts);
  const saml = samlClient();
  const askTools = withSseServers(toolServerSend(upstream.outbound));
  const admin = async () => {
    const { adminApp } = await import("../surfaces/admin/app.ts");
    return adminApp({
      db,
      secrets,
      clock,
      log,
      upstream,
      toolServers: toolServerDiscovery(askTools, config.mcpStatelessProbe, config.allowPrivateUpstreams),
      giveUpTokens: givesUpTokens({ db, secrets, clock, send: askTools, allowPrivate: config.allowPrivateUpstreams }),
      agentCards: cardDiscovery(agentSend(upstream.outbound)),
      gitBundles: readGitBundle,
      tryImport: tryImport({ db, secrets, clock }, usageVendors(upstream.outbound, clock)),
      signOn: {
        oidc: oidcClient(upstream.outbound, config.allowPrivateUpstreams),
        saml,
        keys: new KeySets(issuerDocuments(upstream.outbound), clock),
      },
      adminPublicUrl: config.adminPublicUrl,
      publicUrl: config.publicUrl,
      jwtExpirySeconds: config.jwtExpirySeconds,
      fallbackJudge: config.judgeModel ?? null,
      learning: config.learning,
      signingKey,
      passwords: { ...hashing, hashPassword },
      attempts,
      sharedFailures: failures,
      refused: (reason) => metrics.adminRefused(reason),
      ...welcomeOf(config, log),
      gatewayOrigins,
      tryScript: scriptTrial(runtime?.skills ?? null),
      searchKnowledge: searchBench(db, runtime?.knowledge ?? null),
      tryPolicy: policyBench(runtime?.judging ?? null),
      health,
      liveChain: () => runtime?.ledger.status() ?? null,
      verified: ({ verdict, unacknowledged }) => metrics.chainVerified(verdict, verdict !== "intact" && unacknowledged === 0),
    });
  };
  const scim = async () => {
    const { scimApp } = await import("../surfaces/scim/app.ts");
    const directory = { db, secrets, clock, hashPassword, fallbackJudge: config.judgeModel ?? null };
    return scimApp({ directory, log, publicUrl: config.adminPublicUrl });
  };
  const served = config.roles.includes("control") ? controlApps({ admin, scim }, health, log) : healthOnly(health);
  return {
    app: served,
    async close(): Promise<void> {
      failures?.close();
      await saml.close();
      await attemptsWriter.stop();
      await attempts.write("all");
    },
  };
}

function welcomeOf({ mail, publicUrl }: Configuration, log: Log) {
  return mail === null ? {} : { welcome: welcomeMailer({ send: mailSender(mail.server, mail.from), publicUrl: publicUrl ?? null, log }) };
}

async function readyResponse(health: Health, request: Request): Promise<Response> {
  const { status, body } = await readiness(health, request.url);
  return Response.json(body, { status });
}

/** What a process without the control role answers on the control plane's port. */
function healthOnly(health: Readonly<Record<string, (request: Request) => Response | Promise<Response>>>) {
  const app = new Hono();
  for (const [path, handler] of Object.entries(health)) app.get(path, (c) => handler(c.req.raw));
  return { fetch: async (request: Request) => app.fetch(request) };
}
