import { listOf } from "@gatehouse/contracts/conventions";
import {
  bindingResult,
  groupModel,
  groupModelQuery,
  maybeModelIds,
  modelIds,
  modelIdsQuery,
  portalVisibility,
  unbindingResult,
} from "@gatehouse/contracts/group-models";
import { bindGroupModels, listGroupModels, setGroupModelVisibility, unbindGroupModels } from "../../../directory/groups/group-models.ts";
import { idsToUnbind } from "../ids-to-unbind.ts";
import { operation, type AdminOperation } from "../operation.ts";
import { idOf, listed } from "../resource.ts";

const PATH = "/v1/admin/resource-groups/{id}/llm-models";
const common = { tag: "Models of a group", reach: "one", subject: "resource_groups" } as const;

const modelsNamed = (body: { model_ids?: string[] | undefined; llm_model_ids?: string[] | undefined }) =>
  body.model_ids ?? body.llm_model_ids ?? [];

export const groupModelOperations: readonly AdminOperation[] = [
  operation({
    ...common,
    access: "groups:read",
    method: "GET",
    path: PATH,
    summary: "List the models a group may use",
    description: "Bound to the group itself, or inherited.",
    query: groupModelQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("llm_models", groupModel) },
    run: (call) =>
      listed("llm_models", call, (page) => listGroupModels(call.services.directory, call.tenantId, idOf(call), call.query.search, page)),
  }),
  operation({
    ...common,
    access: "groups:write",
    method: "POST",
    path: PATH,
    summary: "Bind models to a group",
    description:
      "Binds those that are not bound yet; if all are, 409 already_bound. A routing group's virtual model may be bound too: that " +
      "lists it in the group, but each of its members must also be bound.",
    body: modelIds,
    answer: { status: 200, about: "What was bound", schema: bindingResult },
    run: (call) => call.write((write) => bindGroupModels(write, call.tenantId, idOf(call), modelsNamed(call.body))),
  }),
  operation({
    ...common,
    access: "groups:write",
    method: "DELETE",
    path: PATH,
    summary: "Unbind models from a group",
    description: "Send the IDs in the body or in the query. If none of them is bound to the group itself, 404 not_bound.",
    query: modelIdsQuery,
    body: maybeModelIds,
    answer: { status: 200, about: "What was unbound", schema: unbindingResult },
    run(call) {
      const ids = modelsNamed(idsToUnbind(modelIds, "model_ids", call.query.model_ids, call.body));
      return call.write((write) => unbindGroupModels(write, call.tenantId, idOf(call), ids));
    },
  }),
  operation({
    ...common,
    access: "groups:write",
    method: "PATCH",
    path: `${PATH}/{model}/portal-visibility`,
    summary: "Show or hide a model in the portal's picker",
    description: "`model` is its id or its name. Access does not depend on it.",
    textParams: ["model"],
    body: portalVisibility,
    answer: { status: 200, about: "How it is now", schema: portalVisibility },
    run: (call) =>
      call.write((write) => setGroupModelVisibility(write, call.tenantId, idOf(call), call.params.model ?? "", call.body.portal_visible)),
  }),
];
