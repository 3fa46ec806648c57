import type { Write } from "../writes/write.ts";

/** For more people, one notification covers all of them, because one each could flood the table of changes. */
const MAX_SINGLE_NOTIFICATIONS = 200;

/** Makes the runtime processes drop their cached data of these people. */
export function notifyPeople(write: Write, tenantId: string, ids: readonly string[]): void {
  if (ids.length > MAX_SINGLE_NOTIFICATIONS) write.notify(tenantId, "end_user");
  else for (const id of ids) write.notify(tenantId, "end_user", id);
}
