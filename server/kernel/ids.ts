import { monotonicFactory } from "ulid";

/** Time-sortable id of an audit row, an admin log entry or a run. Increases within a process even when the clock does not. */
export const ulid: (time?: number) => string = monotonicFactory();

/** Random id of a directory record. */
export function uuid(): string {
  return crypto.randomUUID();
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return UUID.test(text);
}
