import type { Clock } from "../kernel/clock.ts";
import type { Configuration } from "../kernel/configuration/configuration.ts";
import type { Job } from "../kernel/scheduling/job.ts";
import type { Log } from "../kernel/log.ts";
import type { Telemetry } from "../kernel/telemetry/telemetry.ts";
import { microsFromUsd } from "../kernel/money.ts";
import type { OpenCalls } from "../road/open-calls.ts";
import { outbound } from "../runtime/outbound.ts";
import { CallExporter } from "../upstreams/collector/call-exporter.ts";

const SPANS_SENT_MS = 1_000;

interface ObservingParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Telemetry;
}

/** What observes ended calls: the process's metrics, and the exporter if a collector is configured. */
export function openObserving({ collector }: Configuration, { clock, log, metrics }: ObservingParts) {
  // The operator configured the collector, so its address may be private.
  const exporter = collector === null ? null : new CallExporter(collector, outbound({ allowPrivate: true }), clock, log);
  const jobs: Job[] = exporter === null ? [] : [{ name: "send_spans", everyMs: SPANS_SENT_MS, run: () => exporter.send() }];
  const observe: ConstructorParameters<typeof OpenCalls>[0]["observe"] = ({ audit, row, attempts }) => {
    metrics.callEnded({
      proxyType: audit.proxyType,
      proxySubtype: audit.proxySubtype,
      status: row.http_status_code ?? 0,
      durationMs: row.duration_ms ?? 0,
      failure: row.error_type ?? null,
      inputTokens: row.llm_prompt_tokens ?? 0,
      outputTokens: row.llm_completion_tokens ?? 0,
      costMicros: microsFromUsd(row.llm_estimated_cost_usd ?? 0),
      guardrailAction: row.guardrail_action ?? null,
      attempts,
      cacheLayer: row.llm_cache_layer ?? null,
    });
    exporter?.ended(row);
  };
  return { observe, jobs, close: async () => exporter?.close() };
}
