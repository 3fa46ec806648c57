import type { RoutingMember } from "../../../directory/models/routing-group-entry.ts";

export function shuffleByWeight(members: readonly RoutingMember[], random: () => number): RoutingMember | null {
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
