import { uuid } from "../../../kernel/ids.ts";
import type { Log } from "../../../kernel/log.ts";
import { AGE } from "./valkey-scripts.ts";

/** How often a process looks whether the shared store was emptied. */
const LOOK_MS = 500;

/** How long a store counts as new: every process that runs has seen by then that it is, and says so for as long as it takes. */
export const SETTLES_MS = 4_000;

/** Windows in use are raised to the truth every ten seconds: by then those of a store that was set back are. */
const RAISED_WITHIN_MS = 12_000;

/** A process whose rows cannot be shipped holds up nobody's calls for longer. */
const RECORDED_WITHIN_MS = 60_000;

/** Of all tenants: its hash tag lies beside theirs. */
const KEYS = ["gw:{store}:"];

interface StoreWatchParts {
  readonly run: (script: string, keys: readonly string[], args: readonly string[]) => Promise<unknown>;
  readonly log: Log;
  /**
   * Puts back what this process holds in a store that lost it. `setBack`: it has what it held at some time before, under the names of
   * then. Rejects when it could not.
   */
  readonly putBack: (setBack: boolean) => Promise<void>;
  /** Resolves when the truth tells of all that this process counted so far. Rejects when it cannot be told. */
  readonly recorded: () => Promise<void>;
  /** Calls that a hard limit could refuse wait for so many milliseconds more. Rejects when it could not be said. */
  readonly holdBack: (ms: number) => Promise<void>;
  readonly settlesMs: number;
}

/**
 * Watches for a shared store that lost its content, such as a server that was started again. The name under which its
 * content began tells; a process that sees another one puts back what it holds, and holds back what a hard limit could
 * refuse until its rows are where the store is filled from.
 */
export class StoreWatch {
  private known: string | null = null;
  private server: string | null = null;
  private looking = false;
  /** Not everything that was counted before the store was emptied is on record yet. */
  private behind = false;
  private away = false;
  private closed = false;
  private readonly timer: ReturnType<typeof setInterval>;
  private readonly parts: StoreWatchParts;

  constructor(parts: StoreWatchParts) {
    this.parts = parts;
    void this.look();
    this.timer = setInterval(() => void this.look(), LOOK_MS);
    this.timer.unref();
  }

  /** Milliseconds until everybody has put back what the store lost; 0: it is whole. */
  async settlesIn(): Promise<number> {
    const { ageMs } = await this.content();
    return Math.max(0, this.parts.settlesMs - ageMs);
  }

  /** The last look did not reach the store. */
  isAway(): boolean {
    return this.away;
  }

  close(): void {
    this.behind = false;
    this.closed = true;
    clearInterval(this.timer);
  }

  private async look(): Promise<void> {
    if (this.looking) return;
    this.looking = true;
    try {
      const { name, server } = await this.content();
      this.tellAway(false);
      const emptied = this.known !== null && this.known !== name;
      const setBack = !emptied && this.server !== null && this.server !== server;
      if (emptied || setBack) {
        this.catchUp();
        await this.parts.putBack(setBack);
        this.parts.log.warn(emptied ? "limits_store_emptied" : "limits_store_set_back", {});
      }
      if (setBack) await this.parts.holdBack(Math.max(this.parts.settlesMs, RAISED_WITHIN_MS));
      else if (this.behind) await this.parts.holdBack(this.parts.settlesMs);
      // Only now: what could not be put back is tried again.
      this.known = name;
      this.server = server;
    } catch {
      // Calls that need it say so too, and the next look finds what it then holds.
      this.tellAway(true);
    } finally {
      this.looking = false;
    }
  }

  private tellAway(away: boolean): void {
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
          () => new Promise((resolve) => setTimeout(resolve, LOOK_MS)),
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
