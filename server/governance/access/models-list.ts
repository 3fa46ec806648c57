import type { GroupScope, ModelEntry } from "../../directory/snapshot.ts";

/** The models the scope's callers may use, by name: exactly what a call would be let through to. */
export function usableModels(scope: GroupScope): ModelEntry[] {
  const models: ModelEntry[] = [];
  for (const id of scope.granted) {
    const model = scope.tenant.models.get(id);
    if (model?.enabled && model.provider.enabled) models.push(model);
  }
  return models.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** One of them, by gateway id or name; null when it is not there or not granted, which are told apart to nobody. */
export function usableModel(scope: GroupScope, idOrName: string): ModelEntry | null {
  const model = scope.tenant.models.get(idOrName) ?? scope.tenant.modelsByName.get(idOrName);
  return model?.enabled && model.provider.enabled && scope.granted.has(model.id) ? model : null;
}
