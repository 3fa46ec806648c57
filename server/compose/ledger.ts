import type { ProcessGroup } from "../group/process-group.ts";
import { journalShare } from "../kernel/configuration/group-size.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Configuration } from "../kernel/configuration/configuration.ts";
import type { Log } from "../kernel/log.ts";
import type { Telemetry } from "../kernel/telemetry/telemetry.ts";
import type { CheckpointTargets } from "../ledger/checkpoints/checkpoint-targets.ts";
import type { openLedger } from "../ledger/ledger.ts";
import type { DatabaseConnection } from "../store/database.ts";

const BACKLOG_WAIT_MS = 500;

interface LedgerParts {
  readonly openLedger: typeof openLedger;
  readonly targets: CheckpointTargets;
  readonly connection: DatabaseConnection;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Telemetry;
  readonly journal: string;
  readonly signingKey: string;
  readonly group: Pick<ProcessGroup, "size">;
}

/** The ledger of this process, with its metrics registered. */
export async function openWatchedLedger(config: Configuration, parts: LedgerParts) {
  const { openLedger: open, journal, connection, signingKey, clock, log, metrics, targets, group } = parts;
  const ledger = await open({
    directory: journal,
    db: connection.db,
    durability: config.auditDurability,
    maxBytes: journalShare(config.auditJournalMaxBytes, group.size),
    shipWaitMs: config.auditShipWaitMs,
    signingKey,
    clock,
    log,
    checkpointed: targets.keep,
  });
  // Wait briefly for the backlog of an earlier process, so that its rows are in the database before anyone queries them.
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
      clockAheadSeconds: Math.max(0, clock.micros() / 1_000_000 - clock.now() / 1000),
      writtenRows: status.headSeq - firstSeq,
      syncs: status.syncs,
      syncSeconds: status.syncMs / 1000,
      failed: status.failed !== null,
      shipping: status.shippingError === null,
    };
  });
  return ledger;
}
