import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { InProcessCounters } from "../controls/limits/counters/in-process.ts";
import { counterAnswerers } from "../controls/limits/counters/remote-counters.ts";
import { ServedCounters } from "../controls/limits/counters/served-counters.ts";
import { AddressThrottle, type AddressUses, useAnswerers } from "../directory/people/address-throttle.ts";
import { LoginThrottle } from "../directory/people/login-throttle.ts";
import { type Attempts, attemptAnswerers } from "../directory/people/shared-login-throttle.ts";
import { coalesced } from "../kernel/scheduling/coalesced.ts";
import type { Log } from "../kernel/log.ts";
import type { OtherProcess } from "../kernel/telemetry/process-metrics.ts";
import type { MetricFigures } from "../kernel/telemetry/telemetry.ts";
import type { MemberSettings } from "./member-process.ts";
import type { SelfInGroup, GroupSettings, ProcessGroup } from "./process-group.ts";
import { type ChildOfOurs, startProcess } from "../runtime/process-channel.ts";

/** The program this process runs: the source or its bundle. */
const MAIN = process.argv[1] ?? "";
const FIRST_RESTART_MS = 50;
const MAX_RESTART_MS = 5_000;
/** An unresponsive process must not hold up an administrator or the metrics. */
const ANSWER_WITHIN_MS = 1_000;
/** Time beyond the drain for the last bytes and rows. */
const END_WITHIN_MS = 15_000;

/** Another process of the group failed to start; the log has the reason. */
export class ProcessGroupError extends Error {}

/** The data directory of the process with this number. */
export const memberDirectory = (homeDir: string, number: number): string => join(homeDir, "processes", String(number));

interface GroupOptions {
  readonly size: number;
  /** The data directory. */
  readonly homeDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
}

/** The first process of a group: it starts the others, restarts those that die, and keeps the shared counters. */
export function firstProcess({ size, homeDir, env, log }: GroupOptions): ProcessGroup {
  let served: ServedCounters | undefined;
  let throttle: Attempts | undefined;
  let uses: AddressUses | undefined;
  let self: SelfInGroup | undefined;
  let members: Member[] = [];
  const others = (than: Member | null) => members.filter((member) => member !== than);
  return {
    size,
    number: 1,
    port: "first",
    homeDir: null,
    counters: (now, countersLog) => (served = new ServedCounters({ counters: new InProcessCounters(now), now, log: countersLog })),
    logins: (clock, shared) => (throttle = new LoginThrottle(clock, shared)),
    uses: (clock, shared) => (uses = new AddressThrottle(clock, shared)),
    shipped: () => allOf(others(null).map((member) => member.shipped())),
    caughtUp: () => allOf(others(null).map((member) => bounded(member.ask("caughtUp"), undefined))),
    async figures() {
      const answers = await Promise.all(others(null).map((member) => bounded(member.ask("figures"), null)));
      return answers.filter((figures) => figures !== null) as MetricFigures[];
    },
    others: () => members.map((member) => member.told()),
    async start(settings, me) {
      self = me;
      members = Array.from(
        { length: size - 1 },
        (_, i) =>
          new Member({
            number: i + 2,
            size,
            log,
            env: settingsOf(env, settings, memberDirectory(homeDir, i + 2)),
            homeDir,
            answerers(member) {
              const counting = served?.serve();
              return {
                left: () => counting?.left(),
                answerers: {
                  ...(counting === undefined ? {} : counterAnswerers(counting)),
                  ...(throttle === undefined ? {} : attemptAnswerers(throttle, { ask: (name, value) => member.ask(name, value) })),
                  ...(uses === undefined ? {} : useAnswerers(uses)),
                  shipped: () => allOf([self?.shipped(), ...others(member).map((other) => other.shipped())]),
                },
              };
            },
          }),
      );
      await allOf(members.map((member) => member.started));
    },
    leave() {
      for (const member of members) member.tell("leave");
    },
    async stop(drainSeconds) {
      const ends = await Promise.all(members.map((member) => member.stop(drainSeconds)));
      return ends.find((end) => end !== null) ?? null;
    },
  };
}

const allOf = (work: readonly (Promise<unknown> | undefined)[]): Promise<void> => Promise.all(work).then(() => undefined);

function bounded<T>(work: Promise<unknown>, otherwise: T): Promise<T> {
  const late = delay(ANSWER_WITHIN_MS, otherwise, { ref: false });
  return Promise.race([work.catch(() => otherwise) as Promise<T>, late]);
}

/** The environment of another process: like this one's, except for its own settings and those generated here. */
function settingsOf(env: GroupOptions["env"], settings: GroupSettings, dataDir: string): Record<string, string> {
  const given = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[0] !== "GW_BOOTSTRAP_ADMIN_PASSWORD",
  );
  return {
    ...Object.fromEntries(given),
    GW_ROLES: "runtime",
    GW_PROCESSES: "1",
    GW_QUICKSTART: "off",
    GW_DATA_DIR: dataDir,
    GW_RUNTIME_PORT: String(settings.runtimePort ?? 0),
    DATABASE_URL: settings.databaseUrl,
    GW_SECRET_KEY: settings.secretKey,
    GW_JWT_SECRET: settings.jwtSecret,
    GW_AUDIT_SIGNING_KEY: settings.auditSigningKey,
  };
}

interface MemberOptions {
  readonly number: number;
  readonly size: number;
  readonly log: Log;
  readonly env: Readonly<Record<string, string>>;
  readonly homeDir: string;
  /** The requests it may make during one run, and a callback for the end of that run. */
  answerers(member: Member): { readonly left: () => void; readonly answerers: Parameters<ChildOfOurs["channel"]["answer"]>[0] };
}

/** Another process of the group, across restarts. */
class Member {
  /** Resolves when it first accepts calls; rejects if it exits before that. */
  readonly started: Promise<void>;
  /** Resolves when every row it sealed so far is in the database. Coalesced, because each request ships a batch at once. */
  readonly shipped = coalesced(() => this.rowsShipped());
  private readonly options: MemberOptions;
  private child: ChildOfOurs | undefined;
  private ready = Promise.withResolvers<void>();
  private stopping = false;
  private serving = false;
  private deaths = 0;
  private readonly over: Promise<number | string>;

  constructor(options: MemberOptions) {
    this.options = options;
    const first = Promise.withResolvers<void>();
    // Nobody awaits the start of a process that is stopped before it.
    first.promise.catch(() => undefined);
    this.started = first.promise;
    this.over = this.keepRunning(first);
  }

  ask(name: string, value?: unknown): Promise<unknown> {
    return this.child?.channel.ask(name, value) ?? Promise.reject(new Error(`process ${this.options.number} does not run`));
  }

  told(): OtherProcess {
    return { number: this.options.number, serving: this.serving, deaths: this.deaths };
  }

  tell(name: string): void {
    this.child?.channel.tell(name);
  }

  /** Its rows are in its journal while it restarts, so wait for that. */
  private async rowsShipped(): Promise<void> {
    while (!this.stopping) {
      await this.ready.promise;
      const { child } = this;
      const failure = await child?.channel.ask("shipped").then(
        () => null,
        (error: Error) => error,
      );
      if (failure == null) return;
      if (child === this.child) throw failure;
    }
  }

  /** Resolves with how it ended, unless it sealed all of its rows before. */
  async stop(drainSeconds: number): Promise<string | null> {
    this.stopping = true;
    this.ready.resolve();
    void this.child?.channel.ask("stop", drainSeconds).catch(() => undefined);
    const alarm = setTimeout(() => this.child?.kill("SIGKILL"), drainSeconds * 1000 + END_WITHIN_MS);
    const by = await this.over;
    clearTimeout(alarm);
    return by === 0 ? null : `process ${this.options.number} ended with ${by}`;
  }

  private async keepRunning(first: PromiseWithResolvers<void>): Promise<number | string> {
    const { number, log } = this.options;
    let wait = FIRST_RESTART_MS;
    let by: number | string = 0;
    while (!this.stopping) {
      const { left, came } = this.startOnce(() => {
        wait = FIRST_RESTART_MS;
        first.resolve();
      });
      by = await (this.child as ChildOfOurs).exited;
      left();
      this.serving = false;
      if (this.stopping) break;
      this.deaths += 1;
      first.reject(new ProcessGroupError(`process ${number} of the gateway ended with ${by} before it was ready`));
      if (came()) this.ready = Promise.withResolvers<void>();
      log.error("process_died", { process: number, by: String(by), restart_in_ms: wait });
      await delay(wait);
      wait = Math.min(wait * 2, MAX_RESTART_MS);
    }
    first.resolve();
    return by;
  }

  private startOnce(ready: () => void): { left: () => void; came: () => boolean } {
    const { number, env, homeDir, log } = this.options;
    const child = startProcess(MAIN, ["member"], process.env);
    this.child = child;
    let came = false;
    const { left, answerers } = this.options.answerers(this);
    child.channel.answer({
      ...answerers,
      settings: () => ({ number, size: this.options.size, env, homeDir }) satisfies MemberSettings,
      ready: () => {
        came = true;
        this.serving = true;
        log.info("process_started", { process: number, pid: child.pid });
        this.ready.resolve();
        ready();
      },
    });
    return { left, came: () => came };
  }
}
