import type { RoutingGroupEntry } from "../../directory/models/routing-group-entry.ts";
import type { GroupScope, ModelEntry } from "../../directory/snapshot.ts";
import { type Refusal, refuse } from "../../kernel/errors.ts";
import type { ModelReference, Route } from "../../road/target.ts";
import { modelById, modelByName } from "./named-model.ts";

/** Looks the model up by ID, then gateway name, then provider model name; among models that share a provider name, a granted one wins. */
export function modelRouteFor({ tenant, granted }: GroupScope, reference: ModelReference): ModelEntry | RoutingGroupEntry | null {
  if (reference.id !== null) return modelById(tenant, reference.id) ?? null;
  const { name } = reference;
  if (name === null) return null;
  const named = modelByName(tenant, name);
  if (named !== undefined) return named;
  const sharing = tenant.modelsByModelName.get(name) ?? [];
  return sharing.find((model) => granted.has(model.id)) ?? sharing[0] ?? null;
}

/** The route to the model, or a refusal if it is not granted, disabled or does not support any of the modes. */
export function routeOfModel(scope: GroupScope, model: ModelEntry, modes: readonly string[]): Route | Refusal {
  if (!scope.granted.has(model.id)) return refuse("model_not_allowed");
  if (!model.enabled) return refuse("model_disabled");
  if (!serves(model, modes))
    return refuse(
      "model_mode_mismatch",
      `The model ${JSON.stringify(model.name)} does not serve ${modes[0]}; it serves ${model.modes.join(", ")}.`,
    );
  return { group: null, members: [{ model, weight: 1 }] };
}

export function routeOfGroup(scope: GroupScope, group: RoutingGroupEntry, modes: readonly string[]): Route | Refusal {
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
