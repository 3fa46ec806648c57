import { refuse, Refused } from "../kernel/errors.ts";
import type { Database } from "../store/database.ts";

/** Each holds a connection for as long as its reader takes; calls, changes of configuration and shipping need the others. */
const AT_ONCE = 3;

const underWay = new WeakMap<Database, number>();

/** Reads a chain in a transaction of its own. Throws `Refused` (too_many_readings) at the first value when others are doing so. */
export async function* chainReading<T>(db: Database, read: () => AsyncGenerator<T>): AsyncGenerator<T> {
  const others = underWay.get(db) ?? 0;
  if (others >= AT_ONCE) throw new Refused(refuse("too_many_readings", undefined, { headers: { "retry-after": "5" } }));
  underWay.set(db, others + 1);
  try {
    yield* read();
  } finally {
    underWay.set(db, (underWay.get(db) ?? 1) - 1);
  }
}
