import { LOGIN_FAILED, type Admin } from "../../directory/people/logins.ts";
import { logEntries } from "../../directory/writes/write.ts";
import { type Refusal, httpStatusOf } from "../../kernel/errors.ts";
import { lackOf } from "./caller.ts";
import { actorOf, type AdminArrival } from "./call.ts";
import type { AdminOperation } from "./operation.ts";
import type { AdminServices } from "./services.ts";

/**
 * Counts every refusal and records it in the admin log: for signed-in admins if they tried to change something; for others wherever sign-in
 * is required, and at logins. Failed logins already have an entry. Conflicts, missing bindings and failed preconditions are not recorded,
 * because a repeated script meets them normally.
 */
export async function reportRefused(
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
 * Records a forbidden change in the admin log like a change itself, so that attempts are as provable. The record is named only if a
 * permission was missing; otherwise it may belong to another tenant.
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
