import { refuse, Refused } from "../../kernel/errors.ts";
import { type Semaphore, semaphore } from "../../kernel/scheduling/semaphore.ts";
import type { Database } from "../../store/database.ts";

/** Each holds a connection for as long as its reader takes; calls, changes of configuration and shipping need the others. */
const READINGS = { most: 3, mostOfOne: 2, waitMs: 0 };

const readings = new WeakMap<Database, Semaphore>();

/**
 * Reads a chain in a transaction of its own, for a reader of this tenant, or of all. Throws `Refused` (too_many_readings) at the first
 * value when others are doing so.
 */
export async function* chainReading<T>(db: Database, tenantId: string | undefined, read: () => AsyncGenerator<T>): AsyncGenerator<T> {
  const enter = readings.get(db) ?? semaphore(READINGS);
  readings.set(db, enter);
  const leave = await enter(tenantId ?? "");
  if (leave === null) throw new Refused(refuse("too_many_readings", undefined, { headers: { "retry-after": "5" } }));
  try {
    yield* read();
  } finally {
    leave();
  }
}
