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
