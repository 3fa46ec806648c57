import { uuid } from "../../../kernel/ids.ts";
import type { Log } from "../../../kernel/log.ts";
import { AGE } from "./valkey-scripts.ts";

/** Interval of the check whether the shared store was emptied. */
const CHECK_INTERVAL_MS = 500;

/** How long a store counts as new. By then every running process has noticed, and has extended the period if it needs longer. */
export const SETTLES_MS = 4_000;

/** Windows in use are reconciled every ten seconds, so those of a store that was set back are corrected by then. */
const RAISED_WITHIN_MS = 12_000;

/** Longest time that a process whose rows cannot be shipped holds back calls. */
const RECORDED_WITHIN_MS = 60_000;

/** Shared by all tenants; the hash tag has the same form as theirs. */
const KEYS = ["gw:{store}:"];

interface StoreWatchParts {
  readonly run: (script: string, keys: readonly string[], args: readonly string[]) => Promise<unknown>;
  readonly log: Log;
  /**
   * Puts back this process's holds in a store that lost them. `setBack`: the store was restored to an earlier state,
   * with holds under earlier owner names. Rejects on failure.
   */
  readonly putBack: (setBack: boolean) => Promise<void>;
  /** Resolves once the usage totals include everything this process counted so far. Rejects if that cannot be ensured. */
  readonly recorded: () => Promise<void>;
  /** Makes calls that a hard limit could refuse wait for this many milliseconds more. Rejects on failure. */
  readonly holdBack: (ms: number) => Promise<void>;
  readonly settlesMs: number;
}

/**
 * Detects that the shared store lost its content, for example because its server was restarted. Content and server run
 * each have an ID. When one changes, this process puts back its holds, and calls subject to hard limits wait until its
 * rows are in the totals that the store is refilled from.
 */
export class StoreWatch {
  private known: string | null = null;
  private server: string | null = null;
  private checking = false;
  /** Some usage counted before the store was emptied is not recorded yet. */
  private behind = false;
  private away = false;
  private closed = false;
  private readonly timer: ReturnType<typeof setInterval>;
  private readonly parts: StoreWatchParts;

  constructor(parts: StoreWatchParts) {
    this.parts = parts;
    void this.check();
    this.timer = setInterval(() => void this.check(), CHECK_INTERVAL_MS);
    this.timer.unref();
  }

  /** Milliseconds until every process has put back what the store lost; 0: it is complete. */
  async settlesIn(): Promise<number> {
    const { ageMs } = await this.content();
    return Math.max(0, this.parts.settlesMs - ageMs);
  }

  /** Whether the last check failed to reach the store. */
  isAway(): boolean {
    return this.away;
  }

  close(): void {
    this.behind = false;
    this.closed = true;
    clearInterval(this.timer);
  }

  private async check(): Promise<void> {
    if (this.checking) return;
    this.checking = true;
    try {
      const { name, server } = await this.content();
      this.reportAway(false);
      const emptied = this.known !== null && this.known !== name;
      const setBack = !emptied && this.server !== null && this.server !== server;
      if (emptied || setBack) {
        this.catchUp();
        await this.parts.putBack(setBack);
        this.parts.log.warn(emptied ? "limits_store_emptied" : "limits_store_set_back", {});
      }
      if (setBack) await this.parts.holdBack(Math.max(this.parts.settlesMs, RAISED_WITHIN_MS));
      else if (this.behind) await this.parts.holdBack(this.parts.settlesMs);
      // Only after success, so that a failed attempt is repeated.
      this.known = name;
      this.server = server;
    } catch {
      // Calls that need the store report the failure themselves; the next check finds its state.
      this.reportAway(true);
    } finally {
      this.checking = false;
    }
  }

  private reportAway(away: boolean): void {
    if (away === this.away || this.closed) return;
    this.away = away;
    if (away) this.parts.log.warn("limits_store_away", {});
    else this.parts.log.info("limits_store_back", {});
  }

  private catchUp(): void {
    if (this.behind) return;
    this.behind = true;
    const again = async () => {
      const until = performance.now() + RECORDED_WITHIN_MS;
      while (this.behind && performance.now() < until)
        await this.parts.recorded().then(
          () => (this.behind = false),
          () => new Promise((resolve) => setTimeout(resolve, CHECK_INTERVAL_MS)),
        );
      this.behind = false;
    };
    void again();
  }

  private async content(): Promise<{ name: string; ageMs: number; server: string }> {
    const [name, ageMs, server = ""] = (await this.parts.run(AGE, KEYS, [uuid()])) as [string, string, string?];
    return { name, ageMs: Number(ageMs), server };
  }
}
