import type { AuditRow } from "@gatehouse/ledger-format/fields";
import type { Clock } from "../../kernel/clock.ts";
import type { Collector } from "../../kernel/configuration/collector-settings.ts";
import { reasonOf } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import type { Outbound } from "../../runtime/outbound.ts";
import { readUpTo } from "../../wire/http/read-up-to.ts";
import { msOfRetryAfter } from "../../wire/http/retry-after.ts";
import { callFacts, type CallFacts } from "../../wire/otlp/call-facts.ts";
import { CallMetrics } from "../../wire/otlp/call-metrics.ts";
import { sentAttributes, spanOfCall, traceIdOf } from "../../wire/otlp/call-span.ts";

const AT_ONCE = 200;
/** Most spans kept while the collector is unavailable. Further spans are not exported; the ledger still has their calls. */
const MAX_WAITING = 10_000;
const METRICS_EVERY_MS = 15_000;
/** Longest duration of a delivery, and of the last one. Shutdown waits for the one under way and then for the last. */
const RUN_MS = 10_000;
const LAST_RUN_MS = 3_000;
/** Pause after a failure; doubles with each further failure. A Retry-After of the collector takes precedence. */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;
const MAX_RETRY_AFTER_MS = 300_000;
/** Statuses after which the same request may be retried (OTLP 1.x, "Retryable Response Codes"). */
const RETRYABLE = new Set([429, 502, 503, 504]);
/** Limits on reading the collector's answer about rejected spans. */
const MAX_ANSWER_BYTES = 64 * 1024;
const ANSWER_BODY_MS = 1_000;
const MAX_REASON = 200;

class CollectorBusy extends Error {
  readonly pauseMs: number | null;

  constructor({ status, headers }: Response) {
    super(`the collector answered ${status}`);
    this.pauseMs = msOfRetryAfter(headers, Date.now(), MAX_RETRY_AFTER_MS);
  }
}

/** Exports traces and metrics of ended calls to a collector. No call waits for it, and content is never exported. */
export class CallExporter {
  private readonly waiting: CallFacts[] = [];
  private readonly metrics: CallMetrics;
  private lost = 0;
  private measuredAt = -METRICS_EVERY_MS;
  private away = false;
  private pauseMs = 0;
  private resumeAt = 0;
  private readonly collector: Collector;
  private readonly outbound: Outbound;
  private readonly clock: Clock;
  private readonly log: Log;

  constructor(collector: Collector, outbound: Outbound, clock: Clock, log: Log) {
    this.collector = collector;
    this.outbound = outbound;
    this.clock = clock;
    this.log = log;
    this.metrics = new CallMetrics(this.nowMs());
  }

  /** Monotonic time: if the wall clock is set back by an hour, exports must not pause for one. */
  private nowMs(): number {
    return Math.floor(this.clock.micros() / 1000);
  }

  ended(row: AuditRow): void {
    const facts = callFacts(row);
    this.metrics.add(facts);
    if (Number.parseInt(traceIdOf(facts).slice(-8), 16) >= this.collector.sampled * 0x1_0000_0000) return;
    if (this.waiting.length < MAX_WAITING) this.waiting.push(facts);
    else this.lost++;
  }

  /** Sends what waits, within the time of one delivery, unless the collector is paused. What cannot be sent is kept. */
  async send(): Promise<void> {
    if (this.nowMs() < this.resumeAt) return;
    try {
      await this.deliver(RUN_MS);
    } catch (error) {
      const requestedPauseMs = error instanceof CollectorBusy ? error.pauseMs : null;
      this.pauseMs = Math.min(Math.max(this.pauseMs * 2, FIRST_PAUSE_MS), MAX_PAUSE_MS);
      this.resumeAt = this.nowMs() + (requestedPauseMs ?? this.pauseMs);
      if (!this.away) this.log.warn("collector_away", { reason: reasonOf(error) });
      this.away = true;
    }
  }

  /** Sends everything left, within a bounded time. */
  async close(): Promise<void> {
    try {
      this.measuredAt = -METRICS_EVERY_MS;
      await this.deliver(LAST_RUN_MS);
      if (this.waiting.length > 0) throw new Error(`no time was left within ${LAST_RUN_MS} ms`);
    } catch (error) {
      this.log.warn("spans_lost", { spans: this.waiting.length, reason: reasonOf(error) });
    }
  }

  private async deliver(withinMs: number): Promise<void> {
    const began = this.nowMs();
    // A request is started only while at least half the time is left for its answer.
    const leftMs = () => withinMs - (this.nowMs() - began);
    if (this.lost > 0) this.log.warn("spans_lost", { spans: this.lost });
    this.lost = 0;
    while (this.waiting.length > 0 && leftMs() >= withinMs / 2) {
      const spans = this.waiting.slice(0, AT_ONCE);
      const document = { resourceSpans: [{ resource: this.resource(), scopeSpans: [{ scope: SCOPE, spans: spans.map(spanOfCall) }] }] };
      const answer = await this.post("/v1/traces", document, leftMs());
      this.waiting.splice(0, spans.length);
      if (!answer.ok) this.log.warn("spans_refused", { spans: spans.length, ...refusalOf(answer.status) });
      else if (answer.rejected > 0) this.log.warn("spans_refused", { spans: answer.rejected, reason: answer.reason });
    }
    const now = this.nowMs();
    if (now - this.measuredAt < METRICS_EVERY_MS || leftMs() < withinMs / 2) return;
    this.measuredAt = now;
    const scopeMetrics = [{ scope: SCOPE, metrics: this.metrics.read(now) }];
    const { ok, status } = await this.post("/v1/metrics", { resourceMetrics: [{ resource: this.resource(), scopeMetrics }] }, leftMs());
    if (!ok) this.log.warn("metrics_refused", refusalOf(status));
  }

  private resource(): object {
    return { attributes: sentAttributes({ "service.name": this.collector.serviceName, "service.instance.id": INSTANCE }) };
  }

  private async post(path: string, document: object, timeoutMs: number): Promise<CollectorAnswer> {
    const abort = new AbortController();
    const response = await this.outbound.fetch(this.collector.url + path, {
      method: "POST",
      headers: { ...this.collector.headers, "content-type": "application/json" },
      body: JSON.stringify(document),
      abort,
      timeoutMs,
    });
    const late = setTimeout(() => abort.abort(), ANSWER_BODY_MS);
    try {
      const bytes = await readUpTo(response.body, MAX_ANSWER_BYTES, abort.signal).catch(() => null);
      if (RETRYABLE.has(response.status)) throw new CollectorBusy(response);
      if (this.away) this.log.info("collector_back", { spans_waiting: this.waiting.length });
      this.away = false;
      this.pauseMs = 0;
      return { ok: response.ok, status: response.status, ...rejectedSpans(bytes) };
    } finally {
      clearTimeout(late);
    }
  }
}

const refusalOf = (status: number) =>
  status === 415
    ? { status, reason: "it takes no JSON: name a receiver of OTLP over HTTP that does, such as an OpenTelemetry Collector in front of it" }
    : { status };

interface CollectorAnswer extends Rejected {
  readonly ok: boolean;
  readonly status: number;
}

interface Rejected {
  /** Spans that were rejected and must not be sent again (OTLP 1.x, "Partial Success"). */
  readonly rejected: number;
  readonly reason: string;
}

function rejectedSpans(answer: Uint8Array | null): Rejected {
  try {
    const { partialSuccess } = JSON.parse(Buffer.from(answer ?? []).toString("utf8"));
    // 64-bit integers are strings in this JSON, but some collectors send numbers.
    return { rejected: Number(partialSuccess.rejectedSpans ?? 0), reason: String(partialSuccess.errorMessage ?? "").slice(0, MAX_REASON) };
  } catch {
    return { rejected: 0, reason: "" };
  }
}

const SCOPE = { name: "gatehouse" } as const;
const INSTANCE = crypto.randomUUID();
