import type { RoutingGroupEntry } from "../../directory/models/routing-group-entry.ts";
import type { ModelEntry } from "../../directory/snapshot.ts";

/** The modes that every member of the routing group supports, the group's own mode first. */
export function modesOfGroup({ mode }: RoutingGroupEntry, members: readonly ModelEntry[]): string[] {
  const [first, ...rest] = members;
  const shared = (first?.modes ?? []).filter((one) => rest.every((model) => model.modes.includes(one)));
  return [mode, ...shared.filter((one) => one !== mode).toSorted()];
}
