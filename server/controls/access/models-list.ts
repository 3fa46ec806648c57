import type { GroupScope } from "../../directory/snapshot.ts";
import { modelById, modelByName } from "./named-model.ts";
import { usableGroupOf, type UsableModel, usableModelOf } from "./usable-model.ts";

/** The models the scope's callers may use, by name: exactly what a call would be let through to. */
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

/**
 * One usable model by gateway id or name; null both when it does not exist and when it is not granted, so that callers cannot tell the two
 * apart.
 */
export function usableModel(scope: GroupScope, idOrName: string): UsableModel | null {
  const found = modelById(scope.tenant, idOrName) ?? modelByName(scope.tenant, idOrName);
  if (found === undefined) return null;
  if ("members" in found) return usableGroupOf(scope, found);
  return scope.granted.has(found.id) && found.enabled ? usableModelOf(found) : null;
}
