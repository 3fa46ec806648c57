import { Limits } from "../controls/limits/limits.ts";
import { ValkeyCounters } from "../controls/limits/counters/valkey.ts";
import { AlertWriter } from "../directory/limits/alert-writer.ts";
import { UsageTruth } from "../directory/limits/usage-truth.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Configuration } from "../kernel/configuration/configuration.ts";
import type { Job } from "../kernel/scheduling/job.ts";
import type { Log } from "../kernel/log.ts";
import type { Telemetry } from "../kernel/telemetry/telemetry.ts";
import { TokenCounts } from "../runtime/token-counts.ts";
import { openValkey } from "../runtime/valkey.ts";
import type { ProcessGroup } from "../group/process-group.ts";
import type { DatabaseConnection } from "../store/database.ts";

const ALERT_INTERVAL_MS = 500;
const ALERTS_RESOLVED_MS = 60_000;
const COUNTERS_RECONCILED_MS = 10_000;
const COUNTERS_RESOLVED_MS = 2_000;

interface LimitsParts {
  readonly connection: DatabaseConnection;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<Telemetry, "watchCounters">;
  readonly group: Pick<ProcessGroup, "counters">;
}

/** Limits with their counters (in Valkey, or in the first process of the group) and the usage totals they are based on. */
export function openLimits(config: Configuration, { connection, clock, log, metrics, group }: LimitsParts, shipped: () => Promise<void>) {
  // Monotonic: not affected by changes of the wall clock.
  const steady = () => clock.micros() / 1000;
  const truth = new UsageTruth(connection.db, shipped);
  const fromValkey = (url: string) => {
    const shared = new ValkeyCounters({ valkey: openValkey(url), now: steady, log, recorded: () => truth.recorded() });
    metrics.watchCounters(() => shared.isAway());
    return shared;
  };
  const counters = config.valkeyUrl === undefined ? group.counters(steady, log) : fromValkey(config.valkeyUrl);
  const alerts = new AlertWriter(connection.db, log);
  const tokenCounts = new TokenCounts();
  const limits = new Limits({
    counters,
    truth,
    alerts,
    clock,
    log,
    whenAway: config.limitsWhenCountersAway,
    waitMs: config.upstreamTimeoutMs,
    countTokens: tokenCounts.count.bind(tokenCounts),
  });
  const jobs: Job[] = [
    { name: "write_alerts", everyMs: ALERT_INTERVAL_MS, run: () => alerts.flush() },
    { name: "resolve_alerts", everyMs: ALERTS_RESOLVED_MS, run: () => alerts.resolve() },
    { name: "resolve_counters", everyMs: COUNTERS_RESOLVED_MS, run: () => limits.resolve() },
    { name: "reconcile_counters", everyMs: COUNTERS_RECONCILED_MS, run: () => limits.reconcile() },
  ];
  return {
    limits,
    truth,
    alerts,
    jobs,
    async close(): Promise<void> {
      await limits.close();
      await alerts.flush().catch((error: Error) => log.warn("alerts_lost", { error }));
    },
  };
}
