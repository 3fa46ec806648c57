import { randomFillSync } from "node:crypto";
import { monotonicFactory, ulid as ulidOf } from "ulid";

const pool = new Uint8Array(4096);
let left = 0;

/** A number in [0, 1) from eight random bits. Pooled, because each ID needs one per character. */
function random(): number {
  if (left === 0) {
    randomFillSync(pool);
    left = pool.length;
  }
  return (pool[--left] as number) / 256;
}

/** Time-sortable ID of an audit row, admin log entry or run. Increases within a process even if the clock does not. */
export const ulid: (time?: number) => string = monotonicFactory(random);

/** An ID with exactly the given time in milliseconds, whatever IDs were made before. */
export const datedId = (time: number): string => ulidOf(time, random);

/** Random ID of a directory record. */
export function uuid(): string {
  return crypto.randomUUID();
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return UUID.test(text);
}
