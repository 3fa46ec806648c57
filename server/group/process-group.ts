import { InProcessCounters } from "../controls/limits/counters/in-process.ts";
import type { Counters } from "../controls/limits/counters/counters.ts";
import { AddressThrottle, type AddressUses, type SharedUses } from "../directory/people/address-throttle.ts";
import { LoginThrottle } from "../directory/people/login-throttle.ts";
import type { SharedFailures } from "../directory/people/shared-failures.ts";
import type { Attempts } from "../directory/people/shared-login-throttle.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";
import type { OtherProcess } from "../kernel/telemetry/process-metrics.ts";
import type { MetricFigures } from "../kernel/telemetry/telemetry.ts";

/** What the first process passes to each process it starts. */
export interface GroupSettings {
  readonly databaseUrl: string;
  readonly secretKey: string;
  readonly jwtSecret: string;
  readonly auditSigningKey: string;
  /** The port all of them serve; null without the runtime role. */
  readonly runtimePort: number | null;
}

/** What the other processes may ask of or tell one process. */
export interface SelfInGroup {
  figures(): Promise<MetricFigures>;
  /** Resolves when earlier directory changes are in force in this process. */
  caughtUp(): Promise<void>;
  /** Resolves when every row sealed here so far is in the database. */
  shipped(): Promise<void>;
  leave(): void;
}

/**
 * The processes of one gateway on one machine (`GW_PROCESSES`), as seen by each of them. The first has the database, the control plane, the
 * background work and the counters; the others serve calls on the same port.
 */
export interface ProcessGroup {
  /** Number of processes. */
  readonly size: number;
  /** From 1; null in a group of one, whose metrics need no process label. */
  readonly number: number | null;
  /** Whether this process listens on the runtime plane's port alone, as the first of several, or joins others. */
  readonly port: "own" | "first" | "joined";
  /** The data directory of the first process; null in the first process itself. */
  readonly homeDir: string | null;
  /** Counters shared by the group if no Valkey is configured. `now`: monotonic milliseconds. */
  counters(now: () => number, log: Log): Counters;
  /** The throttle on guessing portal passwords, shared by the group, and with other machines by `shared`. */
  logins(clock: Clock, shared?: SharedFailures): Attempts;
  /** What clients may do at the portal without signing in; shared likewise. */
  uses(clock: Clock, shared?: SharedUses): AddressUses;
  /** Resolves when every row sealed so far by the other processes is in the database. */
  shipped(): Promise<void>;
  caughtUp(): Promise<void>;
  /** Metrics of the other processes that respond. */
  figures(): Promise<readonly MetricFigures[]>;
  /** The processes this one started. */
  others(): readonly OtherProcess[];
  /** Resolves when all of them accept calls. */
  start(settings: GroupSettings, self: SelfInGroup): Promise<void>;
  leave(): void;
  /** Resolves when no other process of the group is running, with how one of them ended without having sealed its rows; else null. */
  stop(drainSeconds: number): Promise<string | null>;
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
    logins: (clock, shared) => new LoginThrottle(clock, shared),
    uses: (clock, shared) => new AddressThrottle(clock, shared),
    shipped: nothing,
    caughtUp: nothing,
    figures: () => Promise.resolve([]),
    others: () => [],
    start: nothing,
    leave() {},
    stop: () => Promise.resolve(null),
  };
}
