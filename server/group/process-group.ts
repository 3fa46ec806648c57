import { InProcessCounters } from "../controls/limits/counters/in-process.ts";
import type { Counters } from "../controls/limits/counters/counters.ts";
import { LoginThrottle } from "../directory/people/login-throttle.ts";
import type { Attempts } from "../directory/people/shared-login-throttle.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";
import type { OtherProcess } from "../kernel/telemetry/process-metrics.ts";
import type { MetricFigures } from "../kernel/telemetry/telemetry.ts";

/** What the first process passes to each process that it starts. */
export interface GroupSettings {
  readonly databaseUrl: string;
  readonly secretKey: string;
  readonly jwtSecret: string;
  readonly auditSigningKey: string;
  /** The port that all of them serve; null where there is none. */
  readonly runtimePort: number | null;
}

/** What the others ask of one process, and what it is told. */
export interface SelfInGroup {
  figures(): Promise<MetricFigures>;
  /** Resolves when what was written to the directory before is in force here. */
  caughtUp(): Promise<void>;
  /** Resolves when every row sealed here so far is in the database. */
  shipped(): Promise<void>;
  leave(): void;
}

/**
 * The processes of one gateway on one machine (`GW_PROCESSES`), as each of them sees the others. The first has the
 * database, the control plane, the background work and the counters; the others serve calls behind the same port.
 */
export interface ProcessGroup {
  /** How many they are. */
  readonly size: number;
  /** From 1; null in a group of one, whose metrics need no name. */
  readonly number: number | null;
  /** Whether the port of the runtime plane is one that others listen on. */
  readonly port: "own" | "first" | "joined";
  /** The data directory of the first process; null in itself. */
  readonly homeDir: string | null;
  /** Counters that all of them share, where no Valkey is configured. `now`: milliseconds, never steps. */
  counters(now: () => number, log: Log): Counters;
  /** What slows the guessing of portal passwords, in all of them together. */
  logins(clock: Clock): Attempts;
  /** Resolves when every row that the others sealed so far is in the database. */
  shipped(): Promise<void>;
  caughtUp(): Promise<void>;
  /** Of the others that answer. */
  figures(): Promise<readonly MetricFigures[]>;
  /** Those that this one starts. */
  others(): readonly OtherProcess[];
  /** Resolves when all of them take calls. */
  start(settings: GroupSettings, self: SelfInGroup): Promise<void>;
  leave(): void;
  /** Resolves when no other process of the group runs any more. */
  stop(drainSeconds: number): Promise<void>;
}

const nothing = (): Promise<void> => Promise.resolve();

/** A group of one. */
export function alone(): ProcessGroup {
  return {
    size: 1,
    number: null,
    port: "own",
    homeDir: null,
    counters: (now) => new InProcessCounters(now),
    logins: (clock) => new LoginThrottle(clock),
    shipped: nothing,
    caughtUp: nothing,
    figures: () => Promise.resolve([]),
    others: () => [],
    start: nothing,
    leave() {},
    stop: nothing,
  };
}
