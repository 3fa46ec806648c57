import { refuse, isRefusal } from "../../kernel/errors.ts";
import { arrivalOf } from "../../road/call.ts";
import type { StandingControl } from "../../road/control.ts";
import { PASS, refused } from "../../road/decision.ts";
import { modelRouteFor, routeOfGroup, routeOfModel } from "./model-route.ts";
import { routingGroupPlaceholder } from "./routing-group-placeholder.ts";

/**
 * A model is open to a call when it is granted to the call's resource group, on its own; a routing group opens nothing
 * that is not granted. Sets `call.target`.
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
    const model = route.group === null ? route.members[0]?.model : routingGroupPlaceholder(route.group, route.members, arrivalOf(call));
    if (model === undefined) throw new Error("a route has no member");
    call.target = { kind: "model", route, model };
    return PASS;
  },
};
