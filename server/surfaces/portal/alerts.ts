import { alertAcknowledged, portalAlerts } from "@gatehouse/contracts/portal-answers";
import { portalPageQuery } from "@gatehouse/contracts/portal";
import { acknowledgePortalAlert, listPortalAlerts } from "../../directory/people/portal/alerts.ts";
import type { TenantSnapshot } from "../../directory/snapshot.ts";
import { refuse, Refused } from "../../kernel/errors.ts";
import { isUuid } from "../../kernel/ids.ts";
import { portalOperation, type PortalRoute } from "./portal-operation.ts";
import type { PortalRequest } from "./portal-request.ts";

const PATH = "/v1/portal/alerts";

function tenantOf({ call }: Pick<PortalRequest<unknown, unknown>, "call">): TenantSnapshot {
  if (call.tenant === null) throw new Error("a user was admitted without their tenant");
  return call.tenant;
}

async function listed(request: PortalRequest<{ page: number; page_size: number }, unknown>, groupId: string | null) {
  const { page, page_size } = request.query;
  const { items, total } = await listPortalAlerts(request.services.directory, tenantOf(request), request.user, groupId, {
    limit: page_size,
    offset: (page - 1) * page_size,
  });
  return { alerts: items, total, page, page_size };
}

export const alertRoutes: readonly PortalRoute[] = [
  portalOperation({
    method: "GET",
    path: PATH,
    name: "alerts",
    summary: "Alerts of the user's groups and those above",
    answer: { status: 200, schema: portalAlerts },
    query: portalPageQuery,
    run: (request) => listed(request, null),
  }),
  portalOperation({
    method: "GET",
    path: `${PATH}/group/:group_id`,
    name: "alerts_of_group",
    summary: "Alerts of one group",
    answer: { status: 200, schema: portalAlerts },
    query: portalPageQuery,
    run(request) {
      const { group_id: groupId = "" } = request.params;
      if (!isUuid(groupId)) throw new Refused(refuse("not_found"));
      return listed(request, groupId);
    },
  }),
  portalOperation({
    method: "POST",
    path: `${PATH}/:alert_id/acknowledge`,
    name: "alert_acknowledge",
    summary: "Acknowledges an alert, for this user only",
    answer: { status: 200, schema: alertAcknowledged },
    async run(request) {
      const { alert_id: id = "" } = request.params;
      return {
        id,
        acknowledged: true,
        acknowledged_at: await acknowledgePortalAlert(request.services.directory, tenantOf(request), request.user, id),
      };
    },
  }),
];
