import { refuse, Refused } from "../kernel/errors.ts";
import { type Semaphore, semaphore } from "../kernel/scheduling/semaphore.ts";
import type { Database } from "../store/database.ts";

/** Each reading holds a connection while it scans a tenant's rows; calls, configuration changes and shipping need the others. */
const READINGS = { most: 2, mostOfOne: 1, waitMs: 30_000 };

const readings = new WeakMap<Database, Semaphore>();

/**
 * Runs a scan of a tenant's part of the ledger, one at a time per tenant. Throws `Refused` (too_many_readings) if it
 * cannot start in time.
 */
export async function readingLedger<T>(db: Database, tenantId: string, read: () => Promise<T>): Promise<T> {
  const enter = readings.get(db) ?? semaphore(READINGS);
  readings.set(db, enter);
  const leave = await enter(tenantId);
  if (leave === null) throw new Refused(refuse("too_many_readings", undefined, { headers: { "retry-after": "5" } }));
  try {
    return await read();
  } finally {
    leave();
  }
}
