import type { Clock } from "../../kernel/clock.ts";
import type { Database } from "../../store/database.ts";
import { endIdleRuns } from "../../store/runs/run-sweep.ts";

/** Ends runs that their callers never ended. Idempotent, and safe in many processes at once. */
export async function sweepIdleRuns(db: Database, clock: Clock): Promise<void> {
  await endIdleRuns(db, new Date(clock.now()));
}
