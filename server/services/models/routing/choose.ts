import { imagePriceOf, pricesAt, videoPriceOf } from "../../../directory/models/prices.ts";
import type { RoutingGroupEntry, RoutingMember } from "../../../directory/models/routing-group-entry.ts";
import type { ModelEntry } from "../../../directory/snapshot.ts";
import { generatesText } from "../../../road/target.ts";
import { lowestRanked } from "./lowest-rank.ts";
import type { MemberHealth } from "./member-health.ts";
import { shuffleByWeight } from "./shuffle.ts";

/**
 * Chooses a member by the group's strategy; null if there are none. Members of weight 0 are chosen only if there are no others. Among
 * members that rank equal, every strategy but `ordered` chooses at random in proportion to weight, like `simple-shuffle`. `at`: the time
 * whose prices apply, milliseconds since the Unix epoch.
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
      // Members without a measurement come first, so that they get one.
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

/** Price of an input token plus an output token; for models that write no text, of what else is billed. Unpriced models rank last. */
function priceOf({ priceSchedule, modes }: ModelEntry, at: number): number {
  const { prices } = pricesAt(priceSchedule, at);
  const { input, output, searchUnit, audioSecond, spokenCharacter } = prices;
  if (input !== null && output !== null) return input + output;
  if (generatesText(modes)) return Number.POSITIVE_INFINITY;
  const ofUnit = searchUnit ?? imagePriceOf(prices, null, null) ?? videoPriceOf(prices, null) ?? audioSecond ?? spokenCharacter;
  return ofUnit ?? input ?? Number.POSITIVE_INFINITY;
}
