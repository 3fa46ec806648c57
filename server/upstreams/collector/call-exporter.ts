import type { AuditRow } from "@gatehouse/ledger-format/fields";
import type { Clock } from "../../kernel/clock.ts";
import type { Collector } from "../../kernel/collector-settings.ts";
import { reasonOf } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import type { Outbound } from "../../runtime/outbound.ts";
import { callFacts, type CallFacts } from "../../wire/otlp/call-facts.ts";
import { CallMetrics } from "../../wire/otlp/call-metrics.ts";
import { sentAttributes, spanOfCall, traceIdOf } from "../../wire/otlp/call-span.ts";

const AT_ONCE = 200;
/** While the collector is away; what comes then is lost to it, and stands in the ledger all the same. */
const MAX_WAITING = 10_000;
const METRICS_EVERY_MS = 15_000;
/** A run takes no longer: the gateway's end waits for the one under way, and then for the last one. */
const RUN_MS = 10_000;
const LAST_RUN_MS = 3_000;
/** Answers after which the same may be sent again (OTLP 1.x, "Retryable Response Codes"). */
const WORTH_ANOTHER_TRY = new Set([429, 502, 503, 504]);

/** Tells a collector of the calls that ended. No call waits for it, and it never has content. */
export class CallExporter {
  private readonly waiting: CallFacts[] = [];
  private readonly metrics: CallMetrics;
  private lost = 0;
  private measuredAt = 0;
  private readonly collector: Collector;
  private readonly outbound: Outbound;
  private readonly clock: Clock;
  private readonly log: Log;

  constructor(collector: Collector, outbound: Outbound, clock: Clock, log: Log) {
    this.collector = collector;
    this.outbound = outbound;
    this.clock = clock;
    this.log = log;
    this.metrics = new CallMetrics(clock.now());
  }

  ended(row: AuditRow): void {
    const facts = callFacts(row);
    this.metrics.add(facts);
    if (Number.parseInt(traceIdOf(facts).slice(-8), 16) >= this.collector.sampled * 0x1_0000_0000) return;
    if (this.waiting.length < MAX_WAITING) this.waiting.push(facts);
    else this.lost++;
  }

  /** Sends what waits, as far as `withinMs` goes. Rejects when the collector is away: what waits stays. */
  async send(withinMs = RUN_MS): Promise<void> {
    const began = this.clock.now();
    // A request is begun while at least half the time is left for its answer.
    const leftMs = () => withinMs - (this.clock.now() - began);
    if (this.lost > 0) this.log.warn("spans_lost", { spans: this.lost });
    this.lost = 0;
    while (this.waiting.length > 0 && leftMs() >= withinMs / 2) {
      const spans = this.waiting.slice(0, AT_ONCE);
      const document = { resourceSpans: [{ resource: this.resource(), scopeSpans: [{ scope: SCOPE, spans: spans.map(spanOfCall) }] }] };
      await this.post("/v1/traces", document, leftMs());
      this.waiting.splice(0, spans.length);
    }
    const now = this.clock.now();
    if (now - this.measuredAt < METRICS_EVERY_MS || leftMs() < withinMs / 2) return;
    this.measuredAt = now;
    await this.sendMetrics(now, leftMs());
  }

  /** The last of everything, in a bounded time. */
  async close(): Promise<void> {
    try {
      this.measuredAt = 0;
      await this.send(LAST_RUN_MS);
      if (this.waiting.length > 0) throw new Error(`no time was left within ${LAST_RUN_MS} ms`);
    } catch (error) {
      this.log.warn("spans_lost", { spans: this.waiting.length, reason: reasonOf(error) });
    }
  }

  private async sendMetrics(now: number, timeoutMs: number): Promise<void> {
    const scopeMetrics = [{ scope: SCOPE, metrics: this.metrics.read(now) }];
    await this.post("/v1/metrics", { resourceMetrics: [{ resource: this.resource(), scopeMetrics }] }, timeoutMs);
  }

  private resource(): object {
    return { attributes: sentAttributes({ "service.name": this.collector.serviceName, "service.instance.id": INSTANCE }) };
  }

  private async post(path: string, document: object, timeoutMs: number): Promise<void> {
    const abort = new AbortController();
    const response = await this.outbound.fetch(this.collector.url + path, {
      method: "POST",
      headers: { ...this.collector.headers, "content-type": "application/json" },
      body: JSON.stringify(document),
      abort,
      timeoutMs,
    });
    await response.body?.cancel();
    if (WORTH_ANOTHER_TRY.has(response.status)) throw new Error(`the collector answered ${response.status}`);
    if (!response.ok) this.log.warn("spans_refused", { path, status: response.status });
  }
}

const SCOPE = { name: "gatehouse" } as const;
const INSTANCE = crypto.randomUUID();
