import { imagePriceOf, pricesAt, videoPriceOf } from "../../../directory/models/prices.ts";
import type { RoutingGroupEntry, RoutingMember } from "../../../directory/models/routing-group-entry.ts";
import type { ModelEntry } from "../../../directory/snapshot.ts";
import { generatesText } from "../../../road/target.ts";
import { lowestRanked } from "./lowest-rank.ts";
import type { MemberHealth } from "./member-health.ts";
import { shuffleByWeight } from "./shuffle.ts";

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
      return shuffleByWeight(
        lowestRanked(open, ({ model }) => health.inFlight(model.id)),
        random,
      );
    case "latency-based":
      // A member nobody has measured yet is measured.
      return shuffleByWeight(
        lowestRanked(open, ({ model }) => health.latencyMs(model.id) ?? 0),
        random,
      );
    case "cost-based":
      return shuffleByWeight(
        lowestRanked(open, ({ model }) => priceOf(model, at)),
        random,
      );
    default:
      return shuffleByWeight(open, random);
  }
}

/** Of a token in and a token out, or of what else is billed where nothing is written; what has no price comes last. */
function priceOf({ priceSchedule, modes }: ModelEntry, at: number): number {
  const { prices } = pricesAt(priceSchedule, at);
  const { input, output, searchUnit, audioSecond, spokenCharacter } = prices;
  if (input !== null && output !== null) return input + output;
  if (generatesText(modes)) return Number.POSITIVE_INFINITY;
  const ofUnit = searchUnit ?? imagePriceOf(prices, null, null) ?? videoPriceOf(prices, null) ?? audioSecond ?? spokenCharacter;
  return ofUnit ?? input ?? Number.POSITIVE_INFINITY;
}
