import { Counter, type Registry } from "prom-client";

/** What a call used and what was done about it. */
export interface CallUse {
  readonly proxyType: string;
  /** A code of the gateway's own; null: it did what it was for. */
  readonly failure: string | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costMicros: number;
  /** What a guardrail did: block, redact or warn. */
  readonly guardrailAction: string | null;
  /** How each attempt at a provider ended: served, or why another one was made. */
  readonly attempts: readonly { readonly outcome: string }[];
  /** Answered from the semantic cache: exact or semantic. */
  readonly cacheLayer: string | null;
}

/** Sums of one metric by its labels, added to with each call and read when somebody looks. */
class Sums {
  private readonly sums = new Map<string, { labels: Record<string, string>; sum: number }>();

  constructor(registry: Registry, name: string, help: string, labelNames: string[], unit = 1) {
    const { sums } = this;
    new Counter({
      name,
      help,
      labelNames,
      registers: [registry],
      collect() {
        this.reset();
        for (const { labels, sum } of sums.values()) this.inc(labels, sum * unit);
      },
    });
  }

  add(key: string, amount: number, labels: () => Record<string, string>): void {
    const known = this.sums.get(key);
    if (known === undefined) this.sums.set(key, { labels: labels(), sum: amount });
    else known.sum += amount;
  }
}

/** What calls used and what was done about them. Labels are classes and codes of the gateway's own. */
export class CallSums {
  private readonly tokens: Sums;
  private readonly cost: Sums;
  private readonly failures: Sums;
  private readonly guardrails: Sums;
  private readonly attempts: Sums;
  private readonly cacheHits: Sums;

  constructor(registry: Registry) {
    const sums = (name: string, help: string, labels: string[], unit?: number) => new Sums(registry, name, help, labels, unit);
    this.tokens = sums("gatehouse_call_tokens_total", "Tokens of calls, by what was called and direction", ["proxy_type", "direction"]);
    this.cost = sums("gatehouse_call_cost_usd_total", "Cost of calls with a price, in US dollars", ["proxy_type"], 1e-6);
    this.failures = sums("gatehouse_call_failures_total", "Calls that did not do what they were for, by the code of why", [
      "proxy_type",
      "reason",
    ]);
    this.guardrails = sums("gatehouse_guardrail_actions_total", "Calls a guardrail acted on, by what it did", ["action"]);
    this.attempts = sums("gatehouse_upstream_attempts_total", "Attempts at providers of models, by how each ended", ["outcome"]);
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
