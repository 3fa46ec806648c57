import { expireApprovals } from "./directory/tools/approvals.ts";
import type { Clock } from "./kernel/clock.ts";
import type { Job } from "./kernel/job.ts";
import type { Log } from "./kernel/log.ts";
import { applyRetention } from "./ledger/retention.ts";
import { pruneChanges } from "./store/config-changes.ts";
import type { Database } from "./store/database.ts";
import { forgetKeptSignatures } from "./store/kept-signatures.ts";
import { pruneOrphanTokens } from "./store/oauth-tokens.ts";
import { describeRows } from "./store/row-blocks.ts";
import { forgetLetters } from "./store/tool-letters.ts";
import { forgetSessions } from "./store/tool-sessions.ts";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** What the worker role does for the whole fleet. */
export function workerJobs(db: Database, clock: Clock, log: Log): readonly Job[] {
  return [
    { name: "prune_config_changes", everyMs: HOUR_MS, run: () => pruneChanges(db) },
    { name: "describe_rows", everyMs: 2_000, run: () => describeRows(db, new Date(clock.now())) },
    { name: "apply_retention", everyMs: HOUR_MS, run: () => applyRetention(db, clock, log) },
    { name: "forget_signatures", everyMs: 10 * MINUTE_MS, run: () => forgetKeptSignatures(db) },
    { name: "expire_approvals", everyMs: 5_000, run: () => expireApprovals(db) },
    { name: "prune_oauth_tokens", everyMs: HOUR_MS, run: () => pruneOrphanTokens(db) },
    { name: "forget_tool_letters", everyMs: 5 * MINUTE_MS, run: () => forgetLetters(db) },
    { name: "forget_tool_sessions", everyMs: 5 * MINUTE_MS, run: () => forgetSessions(db) },
  ];
}
