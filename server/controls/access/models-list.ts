import type { GroupScope } from "../../directory/snapshot.ts";
import { modelById, modelByName } from "./named-model.ts";
import { usableGroupOf, type UsableModel, usableModelOf } from "./usable-model.ts";

/** The models and routing groups that the scope's callers may use, sorted by name; the access control admits exactly these. */
export function usableModels(scope: GroupScope): UsableModel[] {
  const { tenant, granted } = scope;
  const models: UsableModel[] = [];
  for (const id of granted) {
    const model = tenant.models.get(id);
    if (model?.enabled === true) models.push(usableModelOf(model));
  }
  for (const group of tenant.routingGroups.values()) {
    const usable = usableGroupOf(scope, group);
    if (usable !== null) models.push(usable);
  }
  return models.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** A usable model by gateway ID or name; null both if it does not exist and if it is not granted, so that callers see no difference. */
export function usableModel(scope: GroupScope, idOrName: string): UsableModel | null {
  const found = modelById(scope.tenant, idOrName) ?? modelByName(scope.tenant, idOrName);
  if (found === undefined) return null;
  if ("members" in found) return usableGroupOf(scope, found);
  return scope.granted.has(found.id) && found.enabled ? usableModelOf(found) : null;
}
