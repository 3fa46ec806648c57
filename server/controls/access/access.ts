import { isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import { arrivalOf } from "../../road/call.ts";
import type { StandingControl } from "../../road/control.ts";
import { PASS, refused } from "../../road/decision.ts";
import { modelRouteFor, routeOfGroup, routeOfModel } from "./model-route.ts";
import { routingGroupPlaceholder } from "./routing-group-placeholder.ts";

/**
 * A call may use a model only if that model itself is granted to the call's resource group; a routing group grants
 * nothing by itself. Sets `call.target`.
 */
export const access: StandingControl = {
  name: "access",
  decide(call, view) {
    const { target } = view;
    if (target.kind !== "model" || call.scope === null) return PASS;
    const found = modelRouteFor(call.scope, target);
    if (found === null) return refused(refuse("model_not_found", `There is no model ${JSON.stringify(target.id ?? target.name)}.`));
    const route = "members" in found ? routeOfGroup(call.scope, found, target.modes) : routeOfModel(call.scope, found, target.modes);
    if (isRefusal(route)) return refused(route);
    const { otherModels = [] } = view;
    if (otherModels.length > 0) return refused(notNamedSo(otherModels));
    const model = route.group === null ? route.members[0]?.model : routingGroupPlaceholder(route.group, route.members, arrivalOf(call));
    if (model === undefined) throw new Error("a route has no member");
    call.target = { kind: "model", route, model };
    return PASS;
  },
};

const MAX_REPORTED = 20;
const MAX_REPORTED_LENGTH = 200;

/**
 * Refuses request members that name further models. They cannot be checked against grants: they are the provider's own
 * model names, and the answer does not reveal which model served it. The message uses Anthropic's wording, which makes
 * Claude Code retry without the member.
 */
function notNamedSo(members: readonly string[]): Refusal {
  const [first = ""] = members;
  const message = `The \`${first.slice(0, MAX_REPORTED_LENGTH)}\` parameter is not supported: a call is served by the model that it names.`;
  return refuse("unsupported_parameter", `${message} A routing group tries several.`, {
    fields: members
      .slice(0, MAX_REPORTED)
      .map((member) => ({ field: member.slice(0, MAX_REPORTED_LENGTH), message: "asks the provider for other models" })),
  });
}
