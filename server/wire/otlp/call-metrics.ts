import { SUBTYPES_WITHOUT_MODEL } from "../../kernel/operations/subtypes-without-model.ts";
import type { CallFacts } from "./call-facts.ts";
import { providerName } from "./gen-ai-names.ts";
import { sentAttributes, operationOf } from "./call-span.ts";

/** Cumulative metrics of governed calls by the GenAI conventions, since the start of the process. */

const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864];
/** Per metric. Further label sets are counted in the overflow series. */
const MAX_SERIES = 2_000;
const CUMULATIVE = 2;
const ASKS_NO_MODEL: ReadonlySet<string | null | undefined> = new Set(SUBTYPES_WITHOUT_MODEL);

type Labels = Readonly<Record<string, string | number | boolean | null | undefined>>;
/** Labels of the overflow series (OpenTelemetry metrics SDK, "Overflow attribute"). */
const OVERFLOW: Labels = { "otel.metric.overflow": true };

interface Series {
  readonly labels: Labels;
  readonly buckets: number[];
  count: number;
  sum: number;
}

class Histograms {
  private readonly series = new Map<string, Series>();
  private readonly bounds: readonly number[];

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
  }

  add(labels: Labels, value: number): void {
    const known = this.find(labels) ?? this.find(OVERFLOW);
    if (known === undefined) return;
    known.count++;
    known.sum += value;
    const at = this.bounds.findIndex((bound) => value <= bound);
    const bucket = at === -1 ? this.bounds.length : at;
    known.buckets[bucket] = (known.buckets[bucket] ?? 0) + 1;
  }

  private find(labels: Labels): Series | undefined {
    const name = JSON.stringify(labels);
    let found = this.series.get(name);
    if (found === undefined && (this.series.size < MAX_SERIES || labels === OVERFLOW)) {
      found = { labels, buckets: Array.from({ length: this.bounds.length + 1 }, () => 0), count: 0, sum: 0 };
      this.series.set(name, found);
    }
    return found;
  }

  points(startNano: string, nowNano: string): object[] {
    return [...this.series.values()].map(({ labels, buckets, count, sum }) => ({
      attributes: sentAttributes(labels),
      startTimeUnixNano: startNano,
      timeUnixNano: nowNano,
      count: String(count),
      sum,
      bucketCounts: buckets.map(String),
      explicitBounds: this.bounds,
    }));
  }
}

class Sums {
  private readonly series = new Map<string, { labels: Labels; sum: number }>();

  add(labels: Labels, value: number): void {
    const name = JSON.stringify(labels);
    const known = this.series.get(name);
    if (known !== undefined) known.sum += value;
    else if (this.series.size < MAX_SERIES || labels === OVERFLOW) this.series.set(name, { labels, sum: value });
    else this.add(OVERFLOW, value);
  }

  points(startNano: string, nowNano: string): object[] {
    return [...this.series.values()].map(({ labels, sum }) => ({
      attributes: sentAttributes(labels),
      startTimeUnixNano: startNano,
      timeUnixNano: nowNano,
      asDouble: sum,
    }));
  }
}

/** Labels are names given by administrators only: never keys, people, or values that callers can choose. */
export class CallMetrics {
  private readonly durations = new Histograms(SECONDS);
  private readonly tokens = new Histograms(TOKENS);
  private readonly costs = new Sums();
  private readonly startNano: string;

  /** Milliseconds since the epoch. */
  constructor(startedAt: number) {
    this.startNano = `${startedAt}000000`;
  }

  add(facts: CallFacts): void {
    const named = {
      "gen_ai.operation.name": operationOf(facts) ?? facts.proxy_subtype,
      "gen_ai.provider.name": providerName(facts.llm_provider),
      "gen_ai.request.model": facts.llm_model_used,
    };
    const error = facts.success === false ? (facts.error_type ?? "_OTHER") : null;
    // Model lists answer at once and would hide a slow model.
    if (facts.proxy_type !== "llm" || !ASKS_NO_MODEL.has(facts.proxy_subtype))
      this.durations.add({ ...named, "gatehouse.call.type": facts.proxy_type, "error.type": error }, (facts.duration_ms ?? 0) / 1000);
    if (facts.llm_prompt_tokens != null) this.tokens.add({ ...named, "gen_ai.token.type": "input" }, facts.llm_prompt_tokens);
    if (facts.llm_completion_tokens != null) this.tokens.add({ ...named, "gen_ai.token.type": "output" }, facts.llm_completion_tokens);
    if (facts.llm_estimated_cost_usd != null)
      this.costs.add({ ...named, "gatehouse.tenant.id": facts.tenant_id }, facts.llm_estimated_cost_usd);
  }

  /** The metrics in OTLP JSON; `now` in milliseconds since the epoch. */
  read(now: number): object[] {
    const nowNano = `${now}000000`;
    const histogram = (name: string, unit: string, description: string, from: Histograms) => ({
      ...{ name, unit, description },
      histogram: { aggregationTemporality: CUMULATIVE, dataPoints: from.points(this.startNano, nowNano) },
    });
    return [
      histogram("gen_ai.client.operation.duration", "s", "From arrival to the end of the answer", this.durations),
      histogram("gen_ai.client.token.usage", "{token}", "Tokens of calls", this.tokens),
      {
        ...{ name: "gatehouse.cost", unit: "USD", description: "Cost of calls" },
        sum: { aggregationTemporality: CUMULATIVE, isMonotonic: true, dataPoints: this.costs.points(this.startNano, nowNano) },
      },
    ];
  }
}
