import { LOGIN_FAILED, type Admin } from "../../directory/people/logins.ts";
import { logEntries } from "../../directory/writes/write.ts";
import { type Refusal, httpStatusOf } from "../../kernel/errors.ts";
import { lackOf } from "./caller.ts";
import { actorOf, type AdminArrival } from "./call.ts";
import type { AdminOperation } from "./operation.ts";
import type { AdminServices } from "./services.ts";

/**
 * Every refusal is counted, and told in the admin log: of whoever is signed in where they tried to change something, of
 * strangers wherever someone has to be signed in, and where they log in. A login that failed has its entry already, and
 * what was there already, is there no more or was changed meanwhile is what a script that runs again meets.
 */
export async function tellRefused(
  services: AdminServices,
  operation: AdminOperation,
  arrival: AdminArrival,
  admin: Admin | null,
  refusal: Refusal,
): Promise<void> {
  const reason = refusal.reason ?? refusal.code;
  services.refused(reason);
  if (operation.method === "GET" && (admin !== null || operation.access === "anyone")) return;
  if (reason === LOGIN_FAILED || reason === "not_bound" || [409, 412].includes(httpStatusOf(refusal))) return;
  if (admin !== null && refusal.code === "forbidden") return logForbidden(services, operation, arrival, admin, refusal.message);
  services.attempts.note({
    actor: actorOf(admin, arrival),
    tenantId: admin?.tenantId ?? null,
    route: `${operation.method} ${operation.path}`,
    reason,
  });
}

/**
 * Who tried to change what they may not change is told as changes are: an attempt is as provable as a deed. The record is
 * named where the permission was lacking; in a tenant of others it may be theirs.
 */
async function logForbidden(
  { directory }: AdminServices,
  operation: AdminOperation,
  arrival: AdminArrival,
  admin: Admin,
  reason: string,
): Promise<void> {
  const resourceId = lackOf(admin, operation) === null ? null : (arrival.params.id ?? null);
  await logEntries(directory.db, actorOf(admin, arrival), new Date(directory.clock.now()), [
    {
      tenant_id: admin.tenantId,
      action: "refused",
      resource: `${operation.method} ${operation.path}`,
      resource_id: resourceId,
      after: { reason },
    },
  ]);
}
