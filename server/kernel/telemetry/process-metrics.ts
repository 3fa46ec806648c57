import { Counter, Gauge, type Registry } from "prom-client";

/** A process that another one starts, and starts again when it dies. */
export interface OtherProcess {
  readonly number: number;
  /** Whether it takes calls. */
  readonly serving: boolean;
  /** How often it has ended unasked. */
  readonly deaths: number;
}

/** Told by the process that starts the others: one that does not come up tells nothing of itself. */
export function watchProcessesIn(registry: Registry, read: () => readonly OtherProcess[]): void {
  const common = { labelNames: ["process"], registers: [registry] };
  new Gauge({
    name: "gatehouse_process_serving",
    help: "0 while this process of the gateway is dead or restarting and serves no calls",
    ...common,
    collect() {
      for (const { number, serving } of read()) this.labels(String(number)).set(serving ? 1 : 0);
    },
  });
  new Counter({
    name: "gatehouse_process_deaths_total",
    help: "Number of times this process of the gateway died and was restarted",
    ...common,
    collect() {
      this.reset();
      for (const { number, deaths } of read()) this.labels(String(number)).inc(deaths);
    },
  });
}
