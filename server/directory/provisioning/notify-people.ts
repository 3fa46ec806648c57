import type { Write } from "../writes/write.ts";

/** Of more of them all are told of at once: one by one they would fill the table of changes. */
const TOLD_ONE_BY_ONE = 200;

/** Tells the runtime processes that what they hold of these people is old. */
export function notifyPeople(write: Write, tenantId: string, ids: readonly string[]): void {
  if (ids.length > TOLD_ONE_BY_ONE) write.notify(tenantId, "end_user");
  else for (const id of ids) write.notify(tenantId, "end_user", id);
}
