import { existsSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { memberDirectory } from "./first-process.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Configuration } from "../kernel/configuration/configuration.ts";
import type { Log } from "../kernel/log.ts";
import type { CheckpointTargets } from "../ledger/checkpoints/checkpoint-targets.ts";
import { openLedger } from "../ledger/ledger.ts";
import type { Database } from "../store/database.ts";

interface Parts {
  readonly db: Database;
  readonly targets: CheckpointTargets;
  readonly signingKey: string;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * After the number of processes was reduced to `size`: ships the rows of the former processes, including those of interrupted calls, and
 * deletes their directories.
 */
export async function emptyLeftJournals(homeDir: string, size: number, config: Configuration, parts: Parts): Promise<void> {
  const all = join(homeDir, "processes");
  if (!existsSync(all)) return;
  for (const name of readdirSync(all)) {
    const number = Number(name);
    if (!Number.isInteger(number) || number <= size) continue;
    const directory = memberDirectory(homeDir, number);
    const ledger = await openLedger({
      ...parts,
      directory: join(directory, "journal"),
      durability: config.auditDurability,
      maxBytes: config.auditJournalMaxBytes,
      shipWaitMs: config.auditShipWaitMs,
      checkpointed: parts.targets.keep,
    });
    await ledger.shipped();
    await ledger.close();
    if (ledger.status().unshippedRows > 0) continue;
    await rm(directory, { recursive: true });
    parts.log.info("process_journal_emptied", { process: number });
  }
}
