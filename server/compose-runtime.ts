import { ConfigFollower } from "./directory/config-follower.ts";
import { CredentialCache } from "./directory/credential-cache.ts";
import { EndUserCache } from "./directory/end-user-cache.ts";
import { AlertWriter } from "./directory/limits/alert-writer.ts";
import { UsageTruth } from "./directory/limits/usage-truth.ts";
import { ConversationNotices } from "./directory/notices/conversation-notices.ts";
import { LoginThrottle } from "./directory/people/login-throttle.ts";
import { LiveFeed } from "./directory/people/portal/live-feed.ts";
import { inTurn } from "./directory/people/portal/password-work.ts";
import { PortalTokens } from "./directory/people/portal/portal-tokens.ts";
import { RegistrationThrottle } from "./directory/people/portal/registration-throttle.ts";
import { StoredAnswers } from "./directory/semantic-cache/stored-answers.ts";
import { NamedTenants } from "./directory/named-tenants.ts";
import { Snapshots } from "./directory/snapshots.ts";
import { LetterBox } from "./directory/tools/letter-box.ts";
import { recordDiscovery } from "./directory/tools/mcp-servers.ts";
import { SessionNotes } from "./directory/tools/session-notes.ts";
import { type Actor, write } from "./directory/writes/write.ts";
import { guardrailEngines, type upstreamOf } from "./drivers.ts";
import { compileStoredPolicy } from "./governance/argument-policies/stored-policy.ts";
import { authorizationMemory, forgetAuthorization } from "./governance/authorization/authorization-memory.ts";
import type { AuthorizationParts } from "./governance/authorization/authorization-parts.ts";
import { connectedDiscovery } from "./governance/authorization/discover-connected.ts";
import { runFeedback } from "./governance/feedback/run-feedback.ts";
import { traceInlet } from "./governance/ingest/trace-inlet.ts";
import { InProcessCounters } from "./governance/limits/in-process.ts";
import { Limits } from "./governance/limits/limits.ts";
import { ValkeyCounters } from "./governance/limits/valkey.ts";
import { Notices } from "./governance/notices/notices.ts";
import { RefusedCredentials } from "./governance/record/refused-credentials.ts";
import { Strangers } from "./governance/record/strangers.ts";
import { Road } from "./governance/road.ts";
import { KeptSignatures } from "./governance/routing/kept-signatures.ts";
import { media } from "./governance/routing/media.ts";
import { MemberHealth } from "./governance/routing/member-health.ts";
import { runAccess } from "./governance/runs/run-access.ts";
import { cancelMarked } from "./governance/tools/cancellation.ts";
import { toolServerDiscovery } from "./governance/tools/discovery.ts";
import { endAllSessions, endIdleSessions, endSession, endSessionsOf } from "./governance/tools/session-pool.ts";
import { toolMemory } from "./governance/tools/tool-memory.ts";
import { recordedCredentials } from "./governance/tools/upstream-credentials.ts";
import type { Clock } from "./kernel/clock.ts";
import type { Configuration } from "./kernel/configuration.ts";
import type { Log } from "./kernel/log.ts";
import type { SecretBox } from "./kernel/secrets.ts";
import type { Telemetry } from "./kernel/telemetry.ts";
import type { CheckpointTargets } from "./ledger/checkpoint-targets.ts";
import { journalScrubber } from "./ledger/erasure.ts";
import type { openLedger } from "./ledger/ledger.ts";
import { sweepIdleRuns } from "./ledger/runs/sweep.ts";
import { shippedSoon } from "./ledger/shipped-soon.ts";
import { dummyVerify, hashCode, hashPassword, verifyCode, verifyPassword } from "./runtime/passwords.ts";
import { openValkey } from "./runtime/valkey.ts";
import type { DatabaseConnection } from "./store/database.ts";
import { readKeptSignatures, writeKeptSignatures } from "./store/kept-signatures.ts";
import { toolServerSend } from "./upstreams/tool-servers/send.ts";
import { diffTools } from "./wire/mcp/tool-definitions.ts";
import { every, type Worker } from "./workers/every.ts";

const BACKLOG_WAIT_MS = 500;
const USES_WRITTEN_MS = 30_000;
const LISTENERS_CHECKED_MS = 1_000;
const IDLE_SESSIONS_ENDED_MS = 600_000;
const RUNS_SWEPT_MS = 30_000;
const JOURNAL_SCRUBBED_MS = 5_000;
const ALERTS_WRITTEN_MS = 500;
const STRANGERS_WRITTEN_MS = 1_000;
const ALERTS_RESOLVED_MS = 60_000;
const ANSWERS_PRUNED_MS = 60_000;
const COUNTERS_RECONCILED_MS = 10_000;
const COUNTERS_RESOLVED_MS = 2_000;

/** Whoever has no name in the admin log. */
const GATEWAY: Actor = { id: null, username: null, role: null, clientIp: null, requestId: null };

interface RuntimeParts {
  readonly targets: CheckpointTargets;
  readonly openLedger: typeof openLedger;
  readonly upstream: ReturnType<typeof upstreamOf>;
  readonly connection: DatabaseConnection;
  readonly secrets: SecretBox;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Telemetry;
  readonly journal: string;
  readonly signingKey: string;
  readonly jwtSecret: string;
}

/** All that calls need, running: what the runtime plane serves from, until `close`. */
export async function openRuntime(config: Configuration, parts: RuntimeParts) {
  const { connection, secrets, clock, log, metrics } = parts;
  const ledger = await openWatchedLedger(config, parts);
  const snapshots = new Snapshots(connection.db, secrets, compileStoredPolicy, log);
  const credentials = new CredentialCache(connection.db, clock);
  const tenants = new NamedTenants(connection.db, clock);
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
    (tenantId, serverId, error) => log.warn("connected_discovery_failed", { tenant_id: tenantId, server_id: serverId, error }),
  );
  const authorization: AuthorizationParts = {
    db: connection.db,
    secrets,
    clock,
    send,
    credentials,
    users,
    tokens,
    snapshots,
    publicUrl: config.publicUrl ?? null,
    allowPrivate: config.allowPrivateUpstreams,
    memory: authorizationMemory(),
    discovery,
  };
  const follower = new ConfigFollower(
    connection,
    {
      tenantChanged(tenantId) {
        tenants.drop(tenantId);
        return snapshots.renew(tenantId);
      },
      credentialChanged: (keyHash) => credentials.drop(keyHash),
      oauthTokensChanged: (tenantId, ref) => forgetAuthorization(authorization.memory, tenantId, ref),
      userChanged: (tenantId, userId) => users.drop(tenantId, userId),
      async everythingChanged() {
        credentials.dropAll();
        authorization.memory.tokens.clear();
        users.dropAll();
        tenants.dropAll();
        await snapshots.renewAll();
      },
    },
    log,
  );
  await follower.start();
  const usesWriter: Worker = every(USES_WRITTEN_MS, "write_key_uses", () => credentials.writeUses(), log);
  // Steady: its own clock counts microseconds from the start of the process, whatever is done to the wall clock.
  const steady = () => clock.micros() / 1000;
  const counters =
    config.valkeyUrl === undefined
      ? new InProcessCounters(steady)
      : new ValkeyCounters({ valkey: openValkey(config.valkeyUrl), now: steady, log });
  const alerts = new AlertWriter(connection.db, log);
  const truth = new UsageTruth(connection.db, () => ledger.shipped());
  const limits = new Limits({
    counters,
    truth,
    alerts,
    clock,
    log,
    whenAway: config.limitsWhenCountersAway,
    waitMs: config.upstreamTimeoutMs,
  });
  const limitWorkers = [
    every(ALERTS_WRITTEN_MS, "write_alerts", () => alerts.flush(), log),
    every(ALERTS_RESOLVED_MS, "resolve_alerts", () => alerts.resolve(), log),
    every(COUNTERS_RESOLVED_MS, "resolve_counters", () => limits.resolve(), log),
    every(COUNTERS_RECONCILED_MS, "reconcile_counters", () => limits.reconcile(), log),
  ];
  const storedAnswers = new StoredAnswers(connection.db, clock);
  const answersPruner = every(ANSWERS_PRUNED_MS, "prune_semantic_cache", () => storedAnswers.prune(), log);
  const notices = new Notices({ conversations: new ConversationNotices(connection.db, clock, log), db: connection.db, clock });
  const signatures = new KeptSignatures({
    now: () => clock.now(),
    store: {
      write: (rows) => writeKeptSignatures(connection.db, rows),
      read: (tenantId, names) => readKeptSignatures(connection.db, tenantId, names),
    },
    secrets,
    log,
  });
  const toolsMemory = toolMemory((session) => void endSession(session, send));
  const kept = { send, memory: toolsMemory };
  const farewells: Worker = every(IDLE_SESSIONS_ENDED_MS, "end_idle_tool_sessions", () => endIdleSessions(kept), log);
  const sessionNotes = await SessionNotes.open({
    connection,
    secrets,
    log,
    cancelled: (mark) => cancelMarked({ memory: toolsMemory, secrets }, mark),
    ended: (name) => void endSessionsOf(name, kept),
  });
  const strangers = new Strangers({
    tenants,
    refused: new RefusedCredentials(alerts, clock),
    ledger,
    clock,
    log,
    rowsPerMinute: config.strangerRowsPerMinute,
  });
  const strangersWriter: Worker = every(STRANGERS_WRITTEN_MS, "write_stranger_rows", () => strangers.write(), log);
  const road = new Road({
    strangers,
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
    media: media((url, abort, timeoutMs) =>
      parts.upstream.media.fetch(url, { method: "GET", headers: { accept: "*/*" }, abort, timeoutMs }),
    ),
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
    unrecorded(reason) {
      metrics.answeredWithoutRow(reason);
      if (reason === "audit_unavailable") metrics.callUnrecorded();
    },
    observe: ({ audit, row }) =>
      metrics.callEnded({
        proxyType: audit.proxyType,
        proxySubtype: audit.proxySubtype,
        status: row.http_status_code ?? 0,
        durationMs: row.duration_ms ?? 0,
      }),
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
      await Promise.all(
        [usesWriter, strangersWriter, answersPruner, sweep, scrub, listeners, farewells, ...limitWorkers].map((worker) => worker.stop()),
      );
      await endAllSessions(kept);
      await strangers.write("all").catch((error: Error) => log.error("row_not_sealed", { error }));
      await limits.close();
      await alerts.flush().catch((error: Error) => log.warn("alerts_lost", { error }));
      await signatures.flush();
      await credentials.writeUses().catch((error: Error) => log.warn("key_uses_lost", { error }));
      await Promise.all([follower.stop(), feed.stop(), sessionNotes.stop()]);
      await ledger.close();
    },
  };
}

async function openWatchedLedger(
  config: Configuration,
  { openLedger: open, journal, connection, signingKey, clock, log, metrics, targets }: RuntimeParts,
) {
  const ledger = await open({
    directory: journal,
    db: connection.db,
    durability: config.auditDurability,
    maxBytes: config.auditJournalMaxBytes,
    signingKey,
    clock,
    log,
    checkpointed: targets.keep,
  });
  // What an earlier process left in the journal is in the database before anybody can ask for it, if that takes no longer than this.
  await Promise.race([ledger.shipped(), new Promise((resolve) => setTimeout(resolve, BACKLOG_WAIT_MS))]);
  const firstSeq = ledger.status().headSeq;
  metrics.watchLedger(() => {
    const status = ledger.status();
    const oldest = status.oldestUnshippedAt === null ? 0 : Math.max(0, (clock.now() - Date.parse(status.oldestUnshippedAt)) / 1000);
    return {
      openCalls: status.openCalls,
      unshippedBytes: status.unshippedBytes,
      unshippedRows: status.unshippedRows,
      oldestUnshippedSeconds: oldest,
      headSeq: status.headSeq,
      writtenRows: status.headSeq - firstSeq,
      syncs: status.syncs,
      syncSeconds: status.syncMs / 1000,
      failed: status.failed !== null,
      shipping: status.shippingError === null,
    };
  });
  return ledger;
}
