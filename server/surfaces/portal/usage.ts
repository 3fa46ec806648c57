import { ownUsage } from "@gatehouse/contracts/portal-answers";
import { groupFilterQuery } from "@gatehouse/contracts/portal";
import { consumptionOf } from "../../directory/limits/consumption.ts";
import { portalOperation, type PortalRoute } from "./portal-operation.ts";
import { fromOtherTenant } from "./portal-scopes.ts";

/** Usage of limits by a person's groups, including the groups above them, whose limits apply too. */
export const usageRoutes: readonly PortalRoute[] = [
  portalOperation({
    method: "GET",
    path: "/v1/portal/usage",
    name: "usage",
    summary: "How much the user's resource groups have used of their limits",
    answer: { status: 200, schema: ownUsage },
    query: groupFilterQuery.omit({ enabled_only: true }),
    async run({ services, user, query }) {
      const refused = fromOtherTenant({ user }, query.group_id);
      if (refused !== null) return refused;
      const ids = query.group_id === undefined ? user.group_ids : [query.group_id];
      const groups = await Promise.all(ids.map((id) => consumptionOf(services.directory, user.tenant_id, id)));
      const models = (await services.snapshots.tenant(user.tenant_id))?.models;
      const nameOf = (modelId: string | null) => (modelId === null ? null : (models?.get(modelId)?.name ?? modelId));
      // Only administrators see who else uses a limit.
      return {
        groups: groups.map(({ group_id, at, limits }) => ({
          group_id,
          at,
          limits: limits.map(({ drawn_by: _others, ...limit }) => ({ ...limit, model_name: nameOf(limit.model_id) })),
        })),
      };
    },
  }),
];
