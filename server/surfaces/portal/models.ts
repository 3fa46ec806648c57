import { portalModel, portalModelList } from "@gatehouse/contracts/portal-answers";
import { portalModelQuery } from "@gatehouse/contracts/portal";
import { arrivalOf } from "../../road/call.ts";
import { portalModels } from "../../controls/access/portal-models.ts";
import { refuse, isRefusal } from "../../kernel/errors.ts";
import { portalOperation, type PortalRoute } from "./portal-operation.ts";
import { scopeOf, lookupScopesOf } from "./portal-scopes.ts";

export const modelRoutes: readonly PortalRoute[] = [
  portalOperation({
    method: "GET",
    path: "/v1/portal/models",
    name: "models",
    summary: "The models that the user may choose",
    answer: { status: 200, schema: portalModelList },
    query: portalModelQuery,
    async run(request) {
      const { group_id, enabled_only, healthy_only, provider, modes } = request.query;
      const scope = await scopeOf(request, group_id);
      if (isRefusal(scope)) return scope;
      const found = scope === null ? [] : portalModels(scope, arrivalOf(request.call));
      const wanted = modes
        ?.split(",")
        .map((mode) => mode.trim())
        .filter((mode) => mode !== "");
      const models = found.filter(
        (model) =>
          (enabled_only !== true || model.enabled) &&
          (healthy_only !== true || model.is_healthy !== false) &&
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
    summary: "Retrieve a model",
    answer: { status: 200, schema: portalModel },
    async run(request) {
      const models = (await lookupScopesOf(request)).flatMap((scope) => portalModels(scope, arrivalOf(request.call)));
      return models.find(({ id }) => id === request.params.model_id) ?? refuse("model_not_found");
    },
  }),
];
