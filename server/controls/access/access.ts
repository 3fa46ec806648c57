import type { RoutingGroupEntry } from "../../directory/models/routing-group-entry.ts";
import type { GroupScope, ModelEntry } from "../../directory/snapshot.ts";
import { type Refusal, refuse, isRefusal } from "../../kernel/errors.ts";
import { arrivalOf } from "../../road/call.ts";
import type { Route, ModelReference } from "../../road/target.ts";
import type { StandingControl } from "../../road/control.ts";
import { PASS, refused } from "../../road/decision.ts";
import { modelById, modelByName } from "./named-model.ts";
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
    const found = resolve(call.scope, target);
    if (found === null) return refused(refuse("model_not_found", `There is no model ${JSON.stringify(target.id ?? target.name)}.`));
    const route = "members" in found ? routeOfGroup(call.scope, found, target.modes) : routeOfModel(call.scope, found, target.modes);
    if (isRefusal(route)) return refused(route);
    const model = route.group === null ? route.members[0]?.model : routingGroupPlaceholder(route.group, route.members, arrivalOf(call));
    if (model === undefined) throw new Error("a route has no member");
    call.target = { kind: "model", route, model };
    return PASS;
  },
};

/** By id, then by gateway name, then by the provider's name, where a granted model wins over its namesakes. */
function resolve({ tenant, granted }: GroupScope, reference: ModelReference): ModelEntry | RoutingGroupEntry | null {
  if (reference.id !== null) return modelById(tenant, reference.id) ?? null;
  const { name } = reference;
  if (name === null) return null;
  const named = modelByName(tenant, name);
  if (named !== undefined) return named;
  const sharing = tenant.modelsByModelName.get(name) ?? [];
  return sharing.find((model) => granted.has(model.id)) ?? sharing[0] ?? null;
}

function routeOfModel(scope: GroupScope, model: ModelEntry, modes: readonly string[]): Route | Refusal {
  if (!scope.granted.has(model.id)) return refuse("model_not_allowed");
  if (!model.enabled) return refuse("model_disabled");
  if (!serves(model, modes))
    return refuse(
      "model_mode_mismatch",
      `The model ${JSON.stringify(model.name)} does not serve ${modes[0]}; it serves ${model.modes.join(", ")}.`,
    );
  return { group: null, members: [{ model, weight: 1 }] };
}

function routeOfGroup(scope: GroupScope, group: RoutingGroupEntry, modes: readonly string[]): Route | Refusal {
  const granted = group.members.filter(({ model }) => scope.granted.has(model.id));
  if (granted.length === 0) return refuse("model_not_allowed", "No member of the routing group is granted to the caller's resource group.");
  const enabled = granted.filter(({ model }) => model.enabled);
  if (!group.enabled || enabled.length === 0)
    return refuse("model_disabled", "The routing group, or each of its members granted to the caller, is switched off.");
  const members = enabled.filter(({ model }) => serves(model, modes));
  if (members.length === 0)
    return refuse("model_mode_mismatch", `No member of the routing group ${JSON.stringify(group.id)} serves ${modes[0]}.`);
  return { group, members };
}

function serves(model: ModelEntry, modes: readonly string[]): boolean {
  return modes.some((mode) => model.modes.includes(mode));
}
