import { Counter, Gauge, type Registry } from "prom-client";

/** A process that the first one starts, and restarts when it dies. */
export interface OtherProcess {
  readonly number: number;
  /** Whether it accepts calls. */
  readonly serving: boolean;
  /** How often it has exited unexpectedly. */
  readonly deaths: number;
}

/** Reported by the process that starts the others, because one that does not come up cannot report itself. */
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

export function watchRealtimeIn(registry: Registry, openSessions: () => number): void {
  new Gauge({
    name: "gatehouse_realtime_open_sessions",
    help: "Realtime sessions that are open in this process",
    registers: [registry],
    collect() {
      this.set(openSessions());
    },
  });
}
