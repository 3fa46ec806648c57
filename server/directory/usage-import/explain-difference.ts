import type { UsageDifferenceExplained } from "@gatehouse/contracts/usage-import";
import { unitsOfNano } from "../../kernel/nano-money.ts";
import { type Compared, allTokens } from "./compared-usage.ts";

/** One cent in nano-dollars. */
const ROUNDING = 10_000_000n;

/**
 * Splits a difference by cause. Causes are applied in order, each taking its share and leaving the rest to later ones, so
 * the parts always add up to the difference.
 */
export function explainDifference(at: Compared): UsageDifferenceExplained[] {
  let cost = at.vendor.cost - at.gateway.cost;
  let tokens = allTokens(at.vendor) - allTokens(at.gateway);
  const parts: UsageDifferenceExplained[] = [];
  const say = (kind: UsageDifferenceExplained["kind"], part: { cost: bigint; tokens: number }, detail: string) => {
    parts.push({ kind, tokens: part.tokens, cost_usd: unitsOfNano(part.cost), detail });
    cost -= part.cost;
    tokens -= part.tokens;
  };
  const there = ({ cost: c, tokens: t }: { cost: bigint; tokens: number }) => c !== 0n || t !== 0;
  if (cost === 0n && tokens === 0) return parts;
  if (at.provisional) {
    say("provisional", { cost, tokens }, "The vendor's figures of this day may still change.");
    return parts;
  }
  if (there(at.unmatchedModel)) say("unmatched_model", at.unmatchedModel, "The vendor names a model that no model here is matched with.");
  if (there(at.unmatchedKey))
    say("unmatched_key", at.unmatchedKey, "The vendor names a key and a model that nothing here is matched with.");
  if (there(at.foreign))
    say("direct_use", at.foreign, "Used with a key of the account that the gateway does not call with: past the gateway.");
  if (cost === 0n && tokens === 0) return parts;
  if (allTokens(at.vendor) === 0 && !at.vendor.hasCost) {
    say("not_reported", { cost, tokens }, "The vendor tells nothing of this.");
    return parts;
  }
  if (tokens !== 0 && at.estimated > 0 && Math.abs(tokens) <= at.estimated)
    say("estimated", { cost: 0n, tokens }, "The gateway estimated the usage of calls that broke off.");
  const magnitude = cost < 0n ? -cost : cost;
  if (cost !== 0n && magnitude < ROUNDING) say("rounding", { cost, tokens: 0 }, "Less than a cent.");
  else if (cost !== 0n && tokens === 0 && allTokens(at.vendor) > 0)
    say(
      "price_table",
      { cost, tokens: 0 },
      at.unpriced > 0
        ? "The tokens agree; some of the gateway's calls have no price."
        : "The tokens agree: the prices here are not what the vendor charges, or it gives credits.",
    );
  if (cost !== 0n || tokens !== 0) say("unknown", { cost, tokens }, "Nothing in the figures tells why.");
  return parts;
}
