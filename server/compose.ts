import { generateKeyPairSync, randomBytes } from "node:crypto";
import type { ApiFormat } from "@gatehouse/contracts/providers";
import { CHECKPOINT_KEY_NAME } from "@gatehouse/ledger-format/checkpoint";
import { noteSigner } from "@gatehouse/ledger-format/signed-note";
import { Hono } from "hono";
import { ConfigFollower } from "./directory/config-follower.ts";
import { CredentialCache } from "./directory/credential-cache.ts";
import { ConversationNotices } from "./directory/notices/conversation-notices.ts";
import { EndUserCache } from "./directory/end-user-cache.ts";
import { AlertWriter } from "./directory/limits/alert-writer.ts";
import { UsageTruth } from "./directory/limits/usage-truth.ts";
import { compileStoredPolicy } from "./governance/argument-policies/stored-policy.ts";
import { InProcessCounters } from "./governance/limits/in-process.ts";
import { Limits } from "./governance/limits/limits.ts";
import { ValkeyCounters } from "./governance/limits/valkey.ts";
import { LoginThrottle } from "./directory/people/login-throttle.ts";
import { RefusedAttempts } from "./directory/people/refused-attempts.ts";
import { welcomeMailer } from "./directory/people/welcome-mail.ts";
import { LiveFeed } from "./directory/people/portal/live-feed.ts";
import { inTurn } from "./directory/people/portal/password-work.ts";
import { RegistrationThrottle } from "./directory/people/portal/registration-throttle.ts";
import { PortalTokens } from "./directory/people/portal/portal-tokens.ts";
import { firstStart, type FirstStart } from "./directory/first-start.ts";
import { StoredAnswers } from "./directory/semantic-cache/stored-answers.ts";
import { Snapshots } from "./directory/snapshots.ts";
import { traceInlet } from "./governance/ingest/trace-inlet.ts";
import { runFeedback } from "./governance/feedback/run-feedback.ts";
import { Notices } from "./governance/notices/notices.ts";
import { Road } from "./governance/road.ts";
import { KeptSignatures } from "./governance/routing/kept-signatures.ts";
import { media } from "./governance/routing/media.ts";
import { recordDiscovery } from "./directory/tools/mcp-servers.ts";
import { type Actor, write } from "./directory/writes/write.ts";
import { connectedDiscovery } from "./governance/authorization/discover-connected.ts";
import { diffTools } from "./wire/mcp/tool-definitions.ts";
import { authorizationMemory, forgetAuthorization } from "./governance/authorization/authorization-memory.ts";
import type { AuthorizationParts } from "./governance/authorization/authorization-parts.ts";
import { toolServerDiscovery } from "./governance/tools/discovery.ts";
import { endAllSessions, endIdleSessions, endSession, endSessionsOf } from "./governance/tools/session-pool.ts";
import { toolMemory } from "./governance/tools/tool-memory.ts";
import { recordedCredentials } from "./governance/tools/upstream-credentials.ts";
import { MemberHealth } from "./governance/routing/member-health.ts";
import { runAccess } from "./governance/runs/run-access.ts";
import { type Clock, systemClock } from "./kernel/clock.ts";
import { type Configuration, ConfigurationError } from "./kernel/configuration.ts";
import type { Log } from "./kernel/log.ts";
import { secretBox } from "./kernel/secrets.ts";
import { telemetry } from "./kernel/telemetry.ts";
import { signAdminChain } from "./ledger/admin-chain.ts";
import { journalScrubber } from "./ledger/erasure.ts";
import { type CheckpointTargets, checkpointTargets } from "./ledger/checkpoint-targets.ts";
import { openLedger } from "./ledger/ledger.ts";
import { applyRetention } from "./ledger/retention.ts";
import { sweepIdleRuns } from "./ledger/runs/sweep.ts";
import { shippedSoon } from "./ledger/shipped-soon.ts";
import { registerSigningKey } from "./ledger/signing-keys.ts";
import { openPlane } from "./plane.ts";
import { readiness, runtimePlane } from "./runtime-plane.ts";
import { mailSender } from "./runtime/mail-sender.ts";
import { outbound } from "./runtime/outbound.ts";
import { dummyVerify, hashCode, hashPassword, verifyCode, verifyPassword } from "./runtime/passwords.ts";
import { pruneOrphanTokens } from "./store/oauth-tokens.ts";
import { LetterBox } from "./directory/tools/letter-box.ts";
import { SessionNotes } from "./directory/tools/session-notes.ts";
import { cancelMarked } from "./governance/tools/cancellation.ts";
import { forgetLetters } from "./store/tool-letters.ts";
import { forgetSessions } from "./store/tool-sessions.ts";
import { expireApprovals } from "./store/approvals.ts";
import { openValkey } from "./runtime/valkey.ts";
import { pruneChanges } from "./store/config-changes.ts";
import { type DataDirectory, openDataDirectory } from "./store/data-directory.ts";
import { type DatabaseConnection, openDatabase } from "./store/database.ts";
import { boundedAnswer, databaseFailure } from "./store/database-state.ts";
import { startEmbeddedPostgres } from "./store/embedded.ts";
import { forgetKeptSignatures, readKeptSignatures, writeKeptSignatures } from "./store/kept-signatures.ts";
import { migrate } from "./store/migrate.ts";
import { readAnyModelName } from "./store/policy-reads.ts";
import { describeRows } from "./store/row-blocks.ts";
import { openStoredKeys } from "./store/sealed-keys.ts";
import { adminApp } from "./surfaces/admin/app.ts";
import { azureContentSafety } from "./upstreams/guardrail-engines/azure-content-safety.ts";
import { bedrockGuardrails } from "./upstreams/guardrail-engines/bedrock-guardrails.ts";
import { openaiModeration } from "./upstreams/guardrail-engines/openai-moderation.ts";
import { webhook } from "./upstreams/guardrail-engines/webhook.ts";
import { anthropicProvider } from "./upstreams/providers/anthropic/anthropic.ts";
import { azureOpenaiProvider } from "./upstreams/providers/azure-openai/azure-openai.ts";
import { bedrockProvider } from "./upstreams/providers/bedrock/bedrock.ts";
import { echoProvider } from "./upstreams/providers/echo/echo.ts";
import { geminiProvider } from "./upstreams/providers/gemini/gemini.ts";
import { openaiProvider } from "./upstreams/providers/openai/openai.ts";
import type { Provider } from "./upstreams/providers/provider.ts";
import { toolServerSend } from "./upstreams/tool-servers/send.ts";
import { vertexProvider } from "./upstreams/providers/vertex/vertex.ts";
import { converseCodec } from "./wire/converse/converse-codec.ts";
import { geminiCodec } from "./wire/gemini/gemini-codec.ts";
import { messagesCodec } from "./wire/messages/messages-codec.ts";
import { chatCodec } from "./wire/openai/chat-codec.ts";
import { responsesCodec } from "./wire/responses/responses-codec.ts";
import { every, type Worker } from "./workers/every.ts";

/** A gateway process that serves. */
export interface Gateway {
  /** Null without the runtime role. */
  readonly runtimeUrl: string | null;
  readonly adminUrl: string;
  readonly dataDir: string;
  /** Where the database is, in words and without its password. */
  readonly database: string;
  readonly made: FirstStart["made"];
  /** A model a first call can name; null when there is none. */
  readonly firstModel: string | null;
  /** Drains: calls in flight may finish within that time, every row is sealed, the database is left clean. */
  stop(drainSeconds?: number): Promise<void>;
}

/** For the last bytes of calls that were ended, once their rows are sealed. */
const AFTER_DRAIN_SECONDS = 5;
const BACKLOG_WAIT_MS = 500;
const USES_WRITTEN_MS = 30_000;
const CHANGES_PRUNED_MS = 3_600_000;
const OAUTH_TOKENS_PRUNED_MS = 3_600_000;
const APPROVALS_EXPIRED_MS = 5_000;
const LETTERS_FORGOTTEN_MS = 300_000;
const LISTENERS_CHECKED_MS = 1_000;
const IDLE_SESSIONS_ENDED_MS = 600_000;
const RUNS_SWEPT_MS = 30_000;
const ATTEMPTS_WRITTEN_MS = 1_000;
const ADMIN_LOG_SIGNED_MS = 60_000;
const RETENTION_MS = 3_600_000;
const ROWS_DESCRIBED_MS = 2_000;
const JOURNAL_SCRUBBED_MS = 5_000;
const SIGNATURES_FORGOTTEN_MS = 600_000;
const ALERTS_WRITTEN_MS = 500;
const ALERTS_RESOLVED_MS = 60_000;
const ANSWERS_PRUNED_MS = 60_000;
const COUNTERS_RECONCILED_MS = 10_000;
const COUNTERS_RESOLVED_MS = 2_000;

/** Whoever has no name in the admin log. */
const GATEWAY: Actor = { id: null, username: null, role: null, clientIp: null, requestId: null };

export interface ComposeHooks {
  /** Sees every SQL statement (tests count them). */
  readonly onQuery?: (sql: string) => void;
  /** Stands in for the ledger (a benchmark measures what it costs). */
  readonly openLedger?: typeof openLedger;
}

export async function compose(config: Configuration, env: Readonly<Record<string, string | undefined>>, log: Log, hooks: ComposeHooks = {}): Promise<Gateway> {
  const clock = systemClock();
  const directory = openDataDirectory(config.dataDir);
  const keys = keysOf(config, directory);
  // What was opened is closed in the opposite order, also when a later step fails.
  const closers: (() => Promise<void> | void)[] = [() => directory.close()];
  try {
    // First: nothing is made for a start that fails over a port.
    const adminPlane = openPlane(config, config.adminPort, log);
    closers.push(adminPlane.close);
    const runtimePlaneOpen = config.roles.includes("runtime") ? openPlane(config, config.runtimePort, log) : null;
    if (runtimePlaneOpen !== null) closers.push(runtimePlaneOpen.close);

    const { connection, description, close } = await connect(config, directory, log, hooks);
    closers.push(close);
    const { db } = connection;
    await migrate(db);
    const secrets = secretBox(Buffer.from(keys.secretKey, "base64"));
    const metrics = telemetry();
    const upstream = upstreamOf(config, clock);

    const targets = checkpointTargets(config, db, log);
    closers.push(() => targets.close());
    const runtime = config.roles.includes("runtime") ? await openRuntime(config, { targets, openLedger: hooks.openLedger ?? openLedger, connection, secrets, clock, upstream, log, metrics, journal: directory.journalPath, signingKey: keys.auditSigningKey, jwtSecret: keys.jwtSecret }) : null;
    if (runtime !== null) closers.push(() => runtime.close());
    const signAdminLog = async () => {
      const signer = noteSigner(CHECKPOINT_KEY_NAME, keys.auditSigningKey);
      const signed = await signAdminChain(db, signer, await registerSigningKey(db, signer, clock), clock);
      if (signed !== null) targets.keep([signed]);
    };
    const signing = config.roles.includes("control") || config.roles.includes("worker") ? [every(ADMIN_LOG_SIGNED_MS, "sign_admin_log", signAdminLog, log)] : [];
    const workers = config.roles.includes("worker")
      ? [
          every(CHANGES_PRUNED_MS, "prune_config_changes", () => pruneChanges(db), log),
          every(ROWS_DESCRIBED_MS, "describe_rows", async () => void (await describeRows(db, new Date(clock.now()))), log),
          every(RETENTION_MS, "apply_retention", () => applyRetention(db, clock, log), log),
          every(SIGNATURES_FORGOTTEN_MS, "forget_signatures", () => forgetKeptSignatures(db), log),
          every(APPROVALS_EXPIRED_MS, "expire_approvals", () => expireApprovals(db), log),
          every(OAUTH_TOKENS_PRUNED_MS, "prune_oauth_tokens", () => pruneOrphanTokens(db), log),
          every(LETTERS_FORGOTTEN_MS, "forget_tool_letters", () => forgetLetters(db), log),
          every(LETTERS_FORGOTTEN_MS, "forget_tool_sessions", () => forgetSessions(db), log),
        ]
      : [];
    closers.push(async () => {
      await Promise.all([...workers, ...signing].map((worker) => worker.stop()));
      if (signing.length > 0) await signAdminLog();
    });

    const databaseAway = boundedAnswer(() => databaseFailure(db));
    const notReady = async (): Promise<string | null> => (runtime !== null && !runtime.ledger.accepting() ? "the audit journal takes no calls" : databaseAway());
    const health = { "/healthz": () => Response.json({ status: "ok" }), "/readyz": async () => readyResponse(notReady), "/metrics": async () => new Response(await metrics.render(), { headers: { "content-type": metrics.contentType } }) };
    const attempts = new RefusedAttempts(db, clock);
    const attemptsWriter = every(ATTEMPTS_WRITTEN_MS, "write_refused_attempts", () => attempts.write(), log);
    closers.push(async () => {
      await attemptsWriter.stop();
      await attempts.write("all");
    });
    // A queue of its own: whoever storms the portal's logins keeps no administrator out.
    const adminHashing = inTurn({ hashPassword, verifyPassword, dummyVerify, hashCode, verifyCode });
    const control = config.roles.includes("control")
      ? adminApp({ db, secrets, clock, log, upstream, toolServers: toolServerDiscovery(toolServerSend(upstream.outbound), config.mcpStatelessProbe, config.allowPrivateUpstreams), jwtSecret: keys.jwtSecret, jwtExpirySeconds: config.jwtExpirySeconds, fallbackJudge: config.judgeModel ?? null, passwords: { hashPassword, verifyPassword: adminHashing.verifyPassword, dummyVerify: adminHashing.dummyVerify }, attempts, refused: (reason) => metrics.adminRefused(reason), ...(config.mail === null ? {} : { welcome: welcomeMailer({ send: mailSender(config.mail.server, config.mail.from), publicUrl: config.publicUrl ?? null, log }) }), health, liveChain: () => runtime?.ledger.status() ?? null, verified: (verdict) => metrics.chainVerified(verdict) })
      : healthOnly(health);

    const { unreadable } = await openStoredKeys(db, secrets);
    if (unreadable.length > 0) log.error("stored_keys_unreadable", { keys: unreadable.length, first: unreadable[0], reason: "GW_SECRET_KEY is not the one they were stored under" });

    // Last: whatever fails before it must not have made secrets that are never shown.
    const started = await firstStart({ directory: { db, secrets, clock, hashPassword, fallbackJudge: config.judgeModel ?? null }, bootstrapAdminPassword: config.bootstrapAdminPassword, quickstart: config.quickstart, env });
    const firstModel = started.models[0] ?? (await readAnyModelName(db));

    adminPlane.answer(async (request, info) => {
      const response = await control.fetch(request, info);
      // Where one process has both planes, what an admin was told is done is in force for the next call.
      if (runtime !== null && request.method !== "GET" && response.ok) await runtime.follower.caughtUp();
      return response;
    });
    closers.push(() => adminPlane.serving.stop({ graceSeconds: 2 }));
    if (runtimePlaneOpen !== null && runtime !== null) runtimePlaneOpen.answer(runtimePlane(runtime.road, runtime.services, { notReady }, new Set(config.mcpAllowedOrigins)));

    return {
      runtimeUrl: runtimePlaneOpen?.serving.url ?? null,
      adminUrl: adminPlane.serving.url,
      dataDir: directory.path,
      database: description,
      made: started.made,
      firstModel,
      async stop(drainSeconds = config.drainSeconds) {
        if (runtimePlaneOpen !== null && runtime !== null) {
          runtime.services.portal.feed.endAll();
          await Promise.all([runtimePlaneOpen.serving.stop({ graceSeconds: drainSeconds + AFTER_DRAIN_SECONDS }), runtime.road.drain(drainSeconds * 1000)]);
        }
        await closeAll(closers, log);
      },
    };
  } catch (error) {
    await closeAll(closers, log);
    throw error;
  }
}

async function closeAll(closers: readonly (() => Promise<void> | void)[], log: Log): Promise<void> {
  for (const close of closers.toReversed()) {
    try {
      await close();
    } catch (error) {
      log.error("stop_failed", { error: error as Error });
    }
  }
}

interface Keys {
  readonly secretKey: string;
  readonly jwtSecret: string;
  readonly auditSigningKey: string;
}

/** Given by configuration, else generated once into the data directory. */
function keysOf(config: Configuration, directory: DataDirectory): Keys {
  return {
    secretKey: config.secretKey ?? directory.secret("secret-key", () => randomBytes(32).toString("base64")),
    jwtSecret: config.jwtSecret ?? directory.secret("jwt-secret", () => randomBytes(32).toString("base64url")),
    auditSigningKey: config.auditSigningKey ?? directory.secret("audit-signing-key.pem", () => generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString()),
  };
}

/** What the driver cannot read of an address it says by throwing: a port there is not, a certificate that is not there. */
function openNamed(url: string, options: Parameters<typeof openDatabase>[1]): DatabaseConnection {
  try {
    return openDatabase(url, options);
  } catch (error) {
    throw new ConfigurationError(`DATABASE_URL cannot be used: ${(error as Error).message}`);
  }
}

async function connect(config: Configuration, directory: DataDirectory, log: Log, hooks: ComposeHooks): Promise<{ connection: DatabaseConnection; description: string; close: () => Promise<void> }> {
  const options = { log, ...(hooks.onQuery === undefined ? {} : { onQuery: hooks.onQuery }) };
  if (config.databaseUrl !== undefined) {
    const connection = openNamed(config.databaseUrl, options);
    const failure = await databaseFailure(connection.db);
    if (failure !== null) {
      await connection.close();
      throw new ConfigurationError(`DATABASE_URL: ${failure}`);
    }
    return { connection, description: connection.place, close: connection.close };
  }
  const embedded = await startEmbeddedPostgres({ directory, log });
  const connection = openDatabase(embedded.url, options);
  return {
    connection,
    description: `embedded PostgreSQL in ${embedded.home}`,
    async close() {
      await connection.close();
      await embedded.stop();
    },
  };
}

async function readyResponse(notReady: () => Promise<string | null>): Promise<Response> {
  const { status, body } = await readiness({ notReady });
  return Response.json(body, { status });
}

/** What a process without the control role answers on the control plane's port. */
function healthOnly(health: Readonly<Record<string, () => Response | Promise<Response>>>) {
  const app = new Hono();
  for (const [path, handler] of Object.entries(health)) app.get(path, () => handler());
  return { fetch: async (request: Request) => app.fetch(request) };
}

/** Every way out of the gateway, and the formats spoken on it. */
function upstreamOf(config: Configuration, clock: Clock) {
  const out = outbound({ allowPrivate: config.allowPrivateUpstreams });
  return {
    clock,
    outbound: out,
    providers: {
      openai: openaiProvider(out),
      azure_openai: azureOpenaiProvider(out),
      anthropic: anthropicProvider(out),
      gemini: geminiProvider(out),
      vertex: vertexProvider(out, clock),
      bedrock: bedrockProvider(out, clock),
      echo: echoProvider(clock),
    } satisfies Record<ApiFormat, Provider>,
    codecs: { chat: chatCodec, responses: responsesCodec, messages: messagesCodec, gemini: geminiCodec, converse: converseCodec },
  };
}

/** What guardrail configurations may name beside the built-in checks. */
function guardrailEngines(out: ReturnType<typeof outbound>, clock: Clock) {
  return { openai_moderation: openaiModeration(out), azure_content_safety: azureContentSafety(out), bedrock_guardrails: bedrockGuardrails(out, clock), webhook: webhook(out) };
}

interface RuntimeParts {
  readonly targets: CheckpointTargets;
  readonly openLedger: typeof openLedger;
  readonly upstream: ReturnType<typeof upstreamOf>;
  readonly connection: DatabaseConnection;
  readonly secrets: ReturnType<typeof secretBox>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: ReturnType<typeof telemetry>;
  readonly journal: string;
  readonly signingKey: string;
  readonly jwtSecret: string;
}

async function openRuntime(config: Configuration, parts: RuntimeParts) {
  const { connection, secrets, clock, log, metrics } = parts;
  const ledger = await parts.openLedger({ directory: parts.journal, db: connection.db, durability: config.auditDurability, maxBytes: config.auditJournalMaxBytes, signingKey: parts.signingKey, clock, log, checkpointed: parts.targets.keep });
  // What an earlier process left in the journal is in the database before anybody can ask for it, if that takes no longer than this.
  await Promise.race([ledger.shipped(), new Promise((resolve) => setTimeout(resolve, BACKLOG_WAIT_MS))]);
  const firstSeq = ledger.status().headSeq;
  metrics.watchLedger(() => {
    const status = ledger.status();
    const oldest = status.oldestUnshippedAt === null ? 0 : Math.max(0, (clock.now() - Date.parse(status.oldestUnshippedAt)) / 1000);
    return { openCalls: status.openCalls, unshippedBytes: status.unshippedBytes, unshippedRows: status.unshippedRows, oldestUnshippedSeconds: oldest, headSeq: status.headSeq, writtenRows: status.headSeq - firstSeq, syncs: status.syncs, syncSeconds: status.syncMs / 1000, failed: status.failed !== null, shipping: status.shippingError === null };
  });
  const snapshots = new Snapshots(connection.db, secrets, compileStoredPolicy, log);
  const credentials = new CredentialCache(connection.db, clock);
  const users = new EndUserCache(connection.db, clock);
  const tokens = new PortalTokens({ secret: parts.jwtSecret, expirySeconds: config.jwtExpirySeconds, clock });
  const send = toolServerSend(parts.upstream.outbound);
  const hashing = inTurn({ hashPassword, verifyPassword, dummyVerify, hashCode, verifyCode });
  const directory = { db: connection.db, secrets, clock, hashPassword: hashing.hashPassword, fallbackJudge: config.judgeModel ?? null };
  const discovery = connectedDiscovery(
    directory,
    toolServerDiscovery(send, config.mcpStatelessProbe, config.allowPrivateUpstreams),
    async (tenantId, serverId, url, found) => {
      await write(directory, GATEWAY, (change) => recordDiscovery(change, tenantId, serverId, url, found, diffTools));
      await follower.caughtUp();
    },
    (error) => log.warn("connected_discovery_failed", { error }),
  );
  const authorization: AuthorizationParts = { db: connection.db, secrets, clock, send, credentials, users, tokens, snapshots, publicUrl: config.publicUrl ?? null, allowPrivate: config.allowPrivateUpstreams, memory: authorizationMemory(), discovery };
  const follower = new ConfigFollower(
    connection,
    {
      tenantChanged: (tenantId) => snapshots.renew(tenantId),
      credentialChanged: (keyHash) => credentials.drop(keyHash),
      oauthTokensChanged: (tenantId, ref) => forgetAuthorization(authorization.memory, tenantId, ref),
      userChanged: (tenantId, userId) => users.drop(tenantId, userId),
      async everythingChanged() {
        credentials.dropAll();
        authorization.memory.tokens.clear();
        users.dropAll();
        await snapshots.renewAll();
      },
    },
    log,
  );
  await follower.start();
  const usesWriter: Worker = every(USES_WRITTEN_MS, "write_key_uses", () => credentials.writeUses(), log);
  // Steady: its own clock counts microseconds from the start of the process, whatever is done to the wall clock.
  const steady = () => clock.micros() / 1000;
  const counters = config.valkeyUrl === undefined ? new InProcessCounters(steady) : new ValkeyCounters({ valkey: openValkey(config.valkeyUrl), now: steady, log });
  const alerts = new AlertWriter(connection.db, log);
  const truth = new UsageTruth(connection.db, () => ledger.shipped());
  const limits = new Limits({ counters, truth, alerts, clock, log, whenAway: config.limitsWhenCountersAway, waitMs: config.upstreamTimeoutMs });
  const limitWorkers = [
    every(ALERTS_WRITTEN_MS, "write_alerts", () => alerts.flush(), log),
    every(ALERTS_RESOLVED_MS, "resolve_alerts", () => alerts.resolve(), log),
    every(COUNTERS_RESOLVED_MS, "resolve_counters", () => limits.resolve(), log),
    every(COUNTERS_RECONCILED_MS, "reconcile_counters", () => limits.reconcile(), log),
  ];
  const storedAnswers = new StoredAnswers(connection.db, clock);
  const answersPruner = every(ANSWERS_PRUNED_MS, "prune_semantic_cache", () => storedAnswers.prune(), log);
  const notices = new Notices({ conversations: new ConversationNotices(connection.db, clock, log), db: connection.db, clock });
  const signatures = new KeptSignatures({ now: () => clock.now(), store: { write: (rows) => writeKeptSignatures(connection.db, rows), read: (tenantId, names) => readKeptSignatures(connection.db, tenantId, names) }, secrets, log });
  const toolsMemory = toolMemory((session) => void endSession(session, send));
  const kept = { send, memory: toolsMemory };
  const farewells: Worker = every(IDLE_SESSIONS_ENDED_MS, "end_idle_tool_sessions", () => endIdleSessions(kept), log);
  const sessionNotes = await SessionNotes.open({ connection, secrets, log, cancelled: (mark) => cancelMarked({ memory: toolsMemory, secrets }, mark), ended: (name) => void endSessionsOf(name, kept) });
  const road = new Road({
    storedAnswers,
    judgeModel: config.judgeModel ?? null,
    ledger,
    limits,
    notices,
    credentials,
    users,
    tokens,
    snapshots,
    secrets,
    log,
    ...parts.upstream,
    signatures,
    guardrailEngines: guardrailEngines(parts.upstream.outbound, clock),
    media: media((url, abort, timeoutMs) => parts.upstream.outbound.fetch(url, { method: "GET", headers: { accept: "*/*" }, abort, timeoutMs })),
    health: new MemberHealth(),
    random: Math.random,
    authorization,
    tools: {
      db: connection.db,
      secrets,
      clock,
      send,
      credentials: recordedCredentials,
      origins: { allowed: new Set(config.mcpAllowedOrigins), loopback: config.loopback && config.publicUrl === undefined },
      memory: toolsMemory,
      letters: new LetterBox(connection.db, secrets, log),
      notes: sessionNotes,
    },
    maxBodyBytes: config.maxBodyBytes,
    upstreamTimeoutMs: config.upstreamTimeoutMs,
    unrecorded: () => metrics.callUnrecorded(),
    observe: ({ audit, row }) => metrics.callEnded({ proxyType: audit.proxyType, proxySubtype: audit.proxySubtype, status: row.http_status_code ?? 0, durationMs: row.duration_ms ?? 0 }),
  });
  const shipped = () => shippedSoon(ledger.shipped());
  const reading = { db: connection.db, secrets, clock, log, shipped };
  const sweep: Worker = every(RUNS_SWEPT_MS, "sweep_runs", () => sweepIdleRuns(connection.db, clock), log);
  const scrub: Worker = every(JOURNAL_SCRUBBED_MS, "scrub_journal", await journalScrubber(connection.db, ledger), log);
  const listeners: Worker = every(LISTENERS_CHECKED_MS, "check_listeners", () => road.checkListeners(), log);
  const feed = new LiveFeed({ connection, users, snapshots, clock, log });
  await feed.start();
  const portal = {
    directory,
    users,
    snapshots,
    feed,
    logins: { directory, tokens, users, hashing, throttle: new LoginThrottle(clock), registrations: new RegistrationThrottle(clock) },
    notices,
    feedback: runFeedback({ db: connection.db, secrets, clock, shipped }),
  };
  return {
    road,
    services: { portal, runs: runAccess({ ...reading, truth }), traces: traceInlet({ ...reading, ledger }) },
    ledger,
    follower,
    async close() {
      await Promise.all([usesWriter, answersPruner, sweep, scrub, listeners, farewells, ...limitWorkers].map((worker) => worker.stop()));
      await endAllSessions(kept);
      await limits.close();
      await alerts.flush().catch((error: Error) => log.warn("alerts_lost", { error }));
      await signatures.flush();
      await credentials.writeUses().catch((error: Error) => log.warn("key_uses_lost", { error }));
      await Promise.all([follower.stop(), feed.stop(), sessionNotes.stop()]);
      await ledger.close();
    },
  };
}
