import { type MetricObject, Registry } from "prom-client";
import { telemetry } from "./telemetry/telemetry.ts";

interface DescribedMetric {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly labels: readonly string[];
}

/** Every metric a gateway may export, whatever its configuration. */
export function describedMetrics(): DescribedMetric[] {
  const registry = new Registry();
  const all = telemetry(null, registry);
  const unread = (): never => {
    throw new Error("a description needs no figures");
  };
  all.watchLedger(unread);
  all.watchCheckpoints(unread);
  all.watchCounters(unread);
  all.watchRealtime(unread);
  all.watchProcesses(unread);
  const made = registry.getMetricsAsArray() as unknown as (Pick<MetricObject, "name" | "help"> & {
    readonly type: string;
    readonly labelNames: readonly string[];
  })[];
  return made
    .map(({ name, help, type, labelNames }) => ({ name, help, type, labels: labelNames }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
