import { refuse, Refused } from "../../kernel/errors.ts";
import { type Semaphore, semaphore } from "../../kernel/scheduling/semaphore.ts";
import type { Database } from "../../store/database.ts";

/** Each reading holds a connection until its reader is done; calls, configuration changes and shipping need the others. */
const READINGS = { most: 3, mostOfOne: 2, waitMs: 0 };

const readings = new WeakMap<Database, Semaphore>();

/**
 * Limits concurrent chain readings, in total and per tenant (`undefined`: a reader of all tenants). Throws `Refused` (too_many_readings) at
 * the first value if there are too many.
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
