import type { RoutingGroupEntry } from "../../directory/models/routing-group-entry.ts";
import type { ModelEntry, TenantSnapshot } from "../../directory/snapshot.ts";

/** The model or routing group with this gateway model ID; a routing group is found by the ID of its virtual model. */
export function modelById({ models, routingGroupsByModelId }: TenantSnapshot, id: string): ModelEntry | RoutingGroupEntry | undefined {
  return models.get(id) ?? routingGroupsByModelId.get(id);
}

/** The model with this gateway name, or the routing group with this slug or name. */
export function modelByName(
  { modelsByName, routingGroups, routingGroupsByName }: TenantSnapshot,
  name: string,
): ModelEntry | RoutingGroupEntry | undefined {
  return modelsByName.get(name) ?? routingGroups.get(name) ?? routingGroupsByName.get(name);
}
