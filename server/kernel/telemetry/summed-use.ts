import { Counter, type Registry } from "prom-client";

/** A call's usage and outcome. */
export interface CallUse {
  readonly proxyType: string;
  /** One of the gateway's error codes; null if the call succeeded. */
  readonly failure: string | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costMicros: number;
  /** A guardrail's action: block, redact or warn. */
  readonly guardrailAction: string | null;
  /** The outcome of each attempt at a provider: served, or why another one was made. */
  readonly attempts: readonly { readonly outcome: string }[];
  /** The semantic cache's match if it answered: exact or semantic. */
  readonly cacheLayer: string | null;
}

/** Totals of one metric by its labels, updated with each call and read at scrape time. */
export class SummedUse {
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
