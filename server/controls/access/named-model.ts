import type { RoutingGroupEntry } from "../../directory/models/routing-group-entry.ts";
import type { ModelEntry, TenantSnapshot } from "../../directory/snapshot.ts";

/** Of a gateway model id, which a routing group's virtual model has too. */
export function modelById({ models, routingGroupsByModelId }: TenantSnapshot, id: string): ModelEntry | RoutingGroupEntry | undefined {
  return models.get(id) ?? routingGroupsByModelId.get(id);
}

/** Of the name a model has at the gateway, or of a routing group's slug or name. */
export function modelByName(
  { modelsByName, routingGroups, routingGroupsByName }: TenantSnapshot,
  name: string,
): ModelEntry | RoutingGroupEntry | undefined {
  return modelsByName.get(name) ?? routingGroups.get(name) ?? routingGroupsByName.get(name);
}
