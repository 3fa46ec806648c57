import { refuse, Refused } from "../kernel/errors.ts";
import { type Semaphore, semaphore } from "../kernel/scheduling/semaphore.ts";
import type { Database } from "../store/database.ts";

/** Each holds a connection for as long as it takes to go through a tenant's rows; calls, changes of configuration and shipping need the others. */
const READINGS = { most: 2, mostOfOne: 1, waitMs: 30_000 };

const readings = new WeakMap<Database, Semaphore>();

/** Reads through a tenant's part of the ledger, one reading of a tenant at a time. Throws `Refused` (too_many_readings) where none may begin in time. */
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
