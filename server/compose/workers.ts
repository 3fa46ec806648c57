import { CHECKPOINT_KEY_NAME } from "@gatehouse/ledger-format/checkpoint";
import { noteSigner } from "@gatehouse/ledger-format/signed-note";
import { RESPONSE_RETENTION_MS } from "../directory/writes/idempotent-request.ts";
import { DriftWatch } from "../directory/assurance/watch-drift.ts";
import { expireApprovalRows } from "../directory/tools/approvals.ts";
import { type upstreamOf, usageVendors } from "../drivers.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Configuration } from "../kernel/configuration/configuration.ts";
import type { Job } from "../kernel/scheduling/job.ts";
import type { Log } from "../kernel/log.ts";
import type { SecretBox } from "../kernel/secrets.ts";
import { hashPassword } from "../runtime/passwords.ts";
import { signAdminChain } from "../ledger/chains/admin-chain.ts";
import type { CheckpointTargets } from "../ledger/checkpoints/checkpoint-targets.ts";
import { registerSigningKey, retireSigningKeys } from "../ledger/checkpoints/signing-keys.ts";
import { applyRetention } from "../ledger/retention.ts";
import { importUsage } from "../services/usage-import/import-usage.ts";
import { pruneSpanClaims } from "../store/ledger/span-claims.ts";
import { pruneSeenEvents } from "../store/discovery/collector-keys.ts";
import { pruneFormerValues } from "../store/credentials/former-key-values.ts";
import { pruneIdempotentAnswers } from "../store/records/idempotent-answers.ts";
import { pruneChanges } from "../store/records/config-changes.ts";
import type { Database } from "../store/database.ts";
import { pruneStoredSignatures } from "../store/responses/stored-signatures.ts";
import { pruneSignOnSessions } from "../store/sign-on/sign-on-sessions.ts";
import { prunePageSessions } from "../store/credentials/page-sessions.ts";
import { describeRows } from "../store/ledger/row-blocks.ts";
import { pruneProcessMessages } from "../store/connections/process-messages.ts";
import { forgetSessions } from "../store/tools/tool-sessions.ts";
import { KnowledgeSignIndexes } from "../store/knowledge/knowledge-sign-indexes.ts";
import { orphanAccounts } from "../services/tools/authorization/end-orphan-accounts.ts";
import { givesUpTokens } from "../services/tools/authorization/give-up-tokens.ts";
import { addressSend } from "../upstreams/address-send.ts";
import { WebhookDeliveries } from "../services/webhooks/webhook-deliveries.ts";
import { WebhookMessages } from "../directory/webhooks/webhook-messages.ts";
import { toolServerSend } from "../upstreams/tool-servers/send.ts";
import { type WorkPoller, runJobs } from "../workers/work-poller.ts";

const ADMIN_LOG_SIGNED_MS = 60_000;
const DRIFT_WATCHED_MS = 1_000;
const WEBHOOKS_DELIVERED_MS = 1_000;
const USAGE_IMPORTED_MS = 1_000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** Jobs that the worker role does for the whole fleet. */
function workerJobs(db: Database, clock: Clock, log: Log): readonly Job[] {
  return [
    { name: "prune_config_changes", everyMs: HOUR_MS, run: () => pruneChanges(db) },
    { name: "describe_rows", everyMs: 5_000, run: () => describeRows(db, new Date(clock.now())) },
    { name: "apply_retention", everyMs: HOUR_MS, run: () => applyRetention(db, clock, log) },
    { name: "forget_signatures", everyMs: 10 * MINUTE_MS, run: () => pruneStoredSignatures(db) },
    { name: "forget_key_values", everyMs: HOUR_MS, run: () => pruneFormerValues(db, new Date(clock.now())) },
    {
      name: "forget_idempotent_answers",
      everyMs: HOUR_MS,
      run: () => pruneIdempotentAnswers(db, new Date(clock.now() - RESPONSE_RETENTION_MS)),
    },
    { name: "expire_approvals", everyMs: 5_000, run: () => expireApprovalRows(db) },
    { name: "forget_page_sessions", everyMs: HOUR_MS, run: () => prunePageSessions(db, new Date(clock.now())) },
    { name: "forget_sign_on_sessions", everyMs: HOUR_MS, run: () => pruneSignOnSessions(db, new Date(clock.now())) },
    { name: "forget_discovery_events", everyMs: HOUR_MS, run: () => pruneSeenEvents(db, new Date(clock.now())) },
    { name: "forget_span_claims", everyMs: 5 * MINUTE_MS, run: () => pruneSpanClaims(db) },
    { name: "forget_tool_letters", everyMs: 5 * MINUTE_MS, run: () => pruneProcessMessages(db) },
    { name: "forget_tool_sessions", everyMs: 5 * MINUTE_MS, run: () => forgetSessions(db) },
  ];
}

interface WorkerParts {
  readonly db: Database;
  readonly secrets: SecretBox;
  readonly clock: Clock;
  readonly log: Log;
  readonly targets: CheckpointTargets;
  readonly signingKey: string;
  readonly workPoller: WorkPoller;
  readonly upstream: Pick<ReturnType<typeof upstreamOf>, "outbound">;
}

/** Background work according to the process's roles; `close` signs the head of the admin log a last time. */
export function openWorkers(
  { roles, learning, judgeModel, allowPrivateUpstreams: allowPrivate }: Configuration,
  { db, secrets, clock, log, targets, signingKey, workPoller, upstream }: WorkerParts,
) {
  const signAdminLog = async () => {
    const signed = await signAdminChain(db, signer, await registerSigningKey(db, signer, clock), clock);
    if (signed !== null) targets.keep([signed]);
  };
  const signs = roles.includes("control") || roles.includes("worker");
  const signer = noteSigner(CHECKPOINT_KEY_NAME, signingKey);
  const using: Job = { name: "use_signing_key", everyMs: HOUR_MS, run: async () => void (await registerSigningKey(db, signer, clock)) };
  const retiring: Job = { name: "retire_signing_keys", everyMs: HOUR_MS, run: () => retireSigningKeys(db, clock) };
  const signing: Job[] = signs ? [{ name: "sign_admin_log", everyMs: ADMIN_LOG_SIGNED_MS, run: signAdminLog }] : [];
  const drift = new DriftWatch({ db, secrets, clock, hashPassword, fallbackJudge: judgeModel ?? null }, learning, log);
  const importing: Job = {
    name: "import_usage",
    everyMs: USAGE_IMPORTED_MS,
    run: importUsage({ directory: { db, secrets, clock }, vendors: usageVendors(upstream.outbound, clock), log }),
  };
  const watching: Job = { name: "watch_drift", everyMs: DRIFT_WATCHED_MS, run: () => drift.run() };
  const signIndexes = new KnowledgeSignIndexes(db, log);
  const indexing: Job = { name: "index_knowledge", everyMs: 5 * MINUTE_MS, run: () => signIndexes.keep() };
  const accounts = orphanAccounts(
    { db, secrets },
    givesUpTokens({ db, secrets, clock, send: toolServerSend(upstream.outbound), allowPrivate }),
  );
  const webhooks = new WebhookDeliveries({
    messages: new WebhookMessages(db, secrets),
    send: addressSend(upstream.outbound, "The receiver"),
    ...{ clock, log },
  });
  const delivering: Job = { name: "deliver_webhooks", everyMs: WEBHOOKS_DELIVERED_MS, run: () => webhooks.deliver() };
  const fleetWide = [retiring, watching, importing, delivering, indexing, accounts.job, ...workerJobs(db, clock, log)];
  const workers = runJobs([using, ...signing, ...(roles.includes("worker") ? fleetWide : [])], workPoller);
  return {
    async close(): Promise<void> {
      accounts.stop();
      await signIndexes.stop();
      await workers.stop();
      if (signs) await signAdminLog();
    },
  };
}
