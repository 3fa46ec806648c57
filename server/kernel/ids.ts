import { randomFillSync } from "node:crypto";
import { monotonicFactory, ulid as ulidOf } from "ulid";

const pool = new Uint8Array(4096);
let left = 0;

/** From 0 to below 1, of eight random bits: an id asks for each of its characters, and the system is asked once for many. */
function random(): number {
  if (left === 0) {
    randomFillSync(pool);
    left = pool.length;
  }
  return (pool[--left] as number) / 256;
}

/** Time-sortable id of an audit row, an admin log entry or a run. Increases within a process even when the clock does not. */
export const ulid: (time?: number) => string = monotonicFactory(random);

/** Id that holds the very millisecond it is given, whatever ids were made before. */
export const datedId = (time: number): string => ulidOf(time, random);

/** Random id of a directory record. */
export function uuid(): string {
  return crypto.randomUUID();
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return UUID.test(text);
}
