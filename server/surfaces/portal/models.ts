import { portalModelQuery } from "@gatehouse/contracts/portal";
import { arrivalOf } from "../../governance/call.ts";
import { portalModels, type PortalModel } from "../../governance/access/portal-models.ts";
import { type Refusal, refuse } from "../../kernel/errors.ts";
import { isRefusal } from "../../governance/surface.ts";
import { portalOperation, type PortalRequest, type PortalRoute } from "./portal-operation.ts";
import { scopesOf } from "./portal-scopes.ts";

type Models = readonly PortalModel[];

/** Of the group named, else of the one the request is in; none for a user without a group. */
async function modelsFor({ services, call, user }: PortalRequest<unknown, unknown>, groupId: string | undefined): Promise<Models | Refusal> {
  if (groupId === undefined) return call.scope === null ? [] : portalModels(call.scope, arrivalOf(call));
  if (!user.group_ids.includes(groupId)) return refuse("forbidden", "You are not in this resource group.");
  const scope = await services.snapshots.scope(user.tenant_id, groupId);
  return scope === null ? [] : portalModels(scope, arrivalOf(call));
}

export const modelRoutes: readonly PortalRoute[] = [
  portalOperation({
    method: "GET",
    path: "/v1/portal/models",
    name: "models",
    query: portalModelQuery,
    async run(request) {
      const { group_id, enabled_only, healthy_only, provider, modes } = request.query;
      const found = await modelsFor(request, group_id);
      if (isRefusal(found)) return found;
      const wanted = modes?.split(",").map((mode) => mode.trim()).filter((mode) => mode !== "");
      const models = found.filter(
        (model) =>
          (enabled_only !== true || model.enabled) &&
          (healthy_only !== true || model.is_healthy) &&
          (provider === undefined || model.provider === provider) &&
          (wanted === undefined || wanted.length === 0 || wanted.some((mode) => model.modes.includes(mode))),
      );
      return { models, total: models.length };
    },
  }),
  portalOperation({
    method: "GET",
    path: "/v1/portal/models/:model_id",
    name: "model",
    async run(request) {
      const models = (await scopesOf(request)).flatMap((scope) => portalModels(scope, arrivalOf(request.call)));
      return models.find(({ id }) => id === request.params.model_id) ?? refuse("model_not_found");
    },
  }),
];
