import type { RoutingGroupEntry } from "../../directory/models/routing-group-entry.ts";
import type { ModelEntry } from "../../directory/snapshot.ts";

/** What every one of the members can be asked for, the group's own mode first: the same wherever the group is listed. */
export function modesOfGroup({ mode }: RoutingGroupEntry, members: readonly ModelEntry[]): string[] {
  const [first, ...rest] = members;
  const shared = (first?.modes ?? []).filter((one) => rest.every((model) => model.modes.includes(one)));
  return [mode, ...shared.filter((one) => one !== mode).toSorted()];
}
