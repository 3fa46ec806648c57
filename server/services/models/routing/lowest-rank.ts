import type { RoutingMember } from "../../../directory/models/routing-group-entry.ts";

export function lowestRanked(members: readonly RoutingMember[], rank: (member: RoutingMember) => number): readonly RoutingMember[] {
  let best = Number.POSITIVE_INFINITY;
  let found: RoutingMember[] = [];
  for (const member of members) {
    const value = rank(member);
    if (value < best) {
      best = value;
      found = [member];
    } else if (value === best) found.push(member);
  }
  return found;
}
