import type { RoutingGroupEntry } from "../../directory/models/routing-group-entry.ts";
import { servedWindow } from "../../directory/models/served-window.ts";
import type { GroupScope, ModelEntry } from "../../directory/snapshot.ts";
import { modesOfGroup } from "./group-modes.ts";

/** A model that a caller may name, including the virtual model of a routing group. */
export interface UsableModel {
  readonly id: string;
  readonly name: string;
  /** `routing` for a routing group, otherwise the model's first mode. */
  readonly mode: string | null;
  readonly modes: readonly string[];
  readonly ownedBy: string;
  readonly createdSeconds: number;
  readonly contextWindow: number | null;
  readonly maxOutputTokens: number | null;
}

export function usableModelOf(model: ModelEntry): UsableModel {
  return {
    id: model.id,
    name: model.name,
    mode: model.modes[0] ?? null,
    modes: model.modes,
    ownedBy: model.provider.providerKey,
    createdSeconds: model.createdSeconds,
    contextWindow: model.contextWindow,
    maxOutputTokens: model.maxOutputTokens,
  };
}

/** The output limit is the smallest among the usable members, and so is the context window unless others take over longer requests; null if the group has none or is disabled. */
export function usableGroupOf(scope: GroupScope, group: RoutingGroupEntry): UsableModel | null {
  if (!group.enabled) return null;
  const members = group.members.filter(({ model }) => scope.granted.has(model.id) && model.enabled);
  if (members.length === 0) return null;
  return {
    id: group.modelId,
    name: group.id,
    mode: "routing",
    modes: modesOfGroup(
      group,
      members.map(({ model }) => model),
    ),
    ownedBy: "gatehouse",
    createdSeconds: group.createdSeconds,
    contextWindow: servedWindow(members.map(({ model, ...member }) => ({ ...member, contextWindow: model.contextWindow }))),
    maxOutputTokens: smallest(members.map(({ model }) => model.maxOutputTokens)),
  };
}

function smallest(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.min(...known);
}
