import { pricesAt } from "../../directory/models/prices.ts";
import type { RoutingGroupEntry, RoutingMember } from "../../directory/models/routing-group-entry.ts";
import type { ModelEntry } from "../../directory/snapshot.ts";
import type { MemberHealth } from "./member-health.ts";

/**
 * One of the members, by the group's strategy. Members of weight 0 are chosen only when no other is among them. Every
 * strategy but `ordered` treats members that are equal to it as `simple-shuffle` does: by chance, in proportion to weight.
 * `at`: the moment whose prices hold, milliseconds since the Unix epoch.
 */
export function chooseMember(
  strategy: RoutingGroupEntry["strategy"],
  members: readonly RoutingMember[],
  health: MemberHealth,
  random: () => number,
  at: number,
): RoutingMember | null {
  const active = members.filter(({ weight }) => weight > 0);
  const open = active.length > 0 ? active : members;
  switch (strategy) {
    case "ordered":
      return open[0] ?? null;
    case "least-busy":
      return shuffle(
        lowest(open, ({ model }) => health.inFlight(model.id)),
        random,
      );
    case "latency-based":
      // A member nobody has measured yet is measured.
      return shuffle(
        lowest(open, ({ model }) => health.latencyMs(model.id) ?? 0),
        random,
      );
    case "cost-based":
      return shuffle(
        lowest(open, ({ model }) => priceOf(model, at)),
        random,
      );
    default:
      return shuffle(open, random);
  }
}

/** Of a token in and a token out; what has no price comes last. */
function priceOf({ priceSchedule }: ModelEntry, at: number): number {
  const { prices } = pricesAt(priceSchedule, at);
  return prices.input === null || prices.output === null ? Number.POSITIVE_INFINITY : prices.input + prices.output;
}

function lowest(members: readonly RoutingMember[], rank: (member: RoutingMember) => number): readonly RoutingMember[] {
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

function shuffle(members: readonly RoutingMember[], random: () => number): RoutingMember | null {
  const weights = members.map(({ weight }) => Math.max(weight, 0));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (total === 0) return members[Math.floor(random() * members.length)] ?? null;
  let left = random() * total;
  for (const [i, weight] of weights.entries()) {
    left -= weight;
    if (left < 0) return members[i] ?? null;
  }
  return members.at(-1) ?? null;
}
