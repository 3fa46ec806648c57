import type { Registry } from "prom-client";
import { SummedUse, type CallUse } from "./summed-use.ts";

/** Totals of calls' usage and outcomes. Labels are classes and codes of the gateway, never values from callers. */
export class CallSums {
  private readonly tokens: SummedUse;
  private readonly cost: SummedUse;
  private readonly failures: SummedUse;
  private readonly guardrails: SummedUse;
  private readonly attempts: SummedUse;
  private readonly cacheHits: SummedUse;

  constructor(registry: Registry) {
    const sums = (name: string, help: string, labels: string[], unit?: number) => new SummedUse(registry, name, help, labels, unit);
    this.tokens = sums("gatehouse_call_tokens_total", "Tokens of calls, by type of call and direction", ["proxy_type", "direction"]);
    this.cost = sums("gatehouse_call_cost_usd_total", "Cost of calls with a price, in US dollars", ["proxy_type"], 1e-6);
    this.failures = sums("gatehouse_call_failures_total", "Failed calls, by type and error code", ["proxy_type", "reason"]);
    this.guardrails = sums("gatehouse_guardrail_actions_total", "Calls on which a guardrail acted, by action", ["action"]);
    this.attempts = sums("gatehouse_upstream_attempts_total", "Attempts at model providers, by outcome", ["outcome"]);
    this.cacheHits = sums("gatehouse_cache_hits_total", "Calls answered from the semantic cache, by layer", ["layer"]);
  }

  add({ proxyType, inputTokens, outputTokens, costMicros, failure, guardrailAction, attempts, cacheLayer }: CallUse): void {
    const ofType = () => ({ proxy_type: proxyType });
    if (inputTokens > 0) this.tokens.add(`${proxyType} in`, inputTokens, () => ({ ...ofType(), direction: "input" }));
    if (outputTokens > 0) this.tokens.add(`${proxyType} out`, outputTokens, () => ({ ...ofType(), direction: "output" }));
    if (costMicros > 0) this.cost.add(proxyType, costMicros, ofType);
    if (failure !== null) this.failures.add(`${proxyType} ${failure}`, 1, () => ({ ...ofType(), reason: failure }));
    if (guardrailAction !== null) this.guardrails.add(guardrailAction, 1, () => ({ action: guardrailAction }));
    for (const { outcome } of attempts) this.attempts.add(outcome, 1, () => ({ outcome }));
    if (cacheLayer !== null) this.cacheHits.add(cacheLayer, 1, () => ({ layer: cacheLayer }));
  }
}
