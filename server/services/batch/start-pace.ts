/** Most lines started per second by this process: while it serves nobody else, and while callers wait for answers. */
const RATE_ALONE = 200;
const RATE_BESIDE_OTHERS = 25;
/** A call this recent counts as a waiting caller, milliseconds. */
const RECENT_MS = 2_000;
const MAX_SAVED = 8;

/** Token bucket for starting lines; it fills slowly while interactive calls wait for answers. */
export class StartPace {
  private saved = MAX_SAVED;
  private at: number;
  private readonly now: () => number;
  private readonly lastWaitedFor: () => number;

  constructor(now: () => number, lastWaitedFor: () => number) {
    this.now = now;
    this.lastWaitedFor = lastWaitedFor;
    this.at = now();
  }

  /** Takes up to `wanted` starts and returns how many were granted. */
  take(wanted: number): number {
    const now = this.now();
    const rate = now - this.lastWaitedFor() < RECENT_MS ? RATE_BESIDE_OTHERS : RATE_ALONE;
    this.saved = Math.min(rate === RATE_ALONE ? MAX_SAVED : 1, this.saved + ((now - this.at) * rate) / 1000);
    this.at = now;
    const taken = Math.min(wanted, Math.floor(this.saved));
    this.saved -= taken;
    return taken;
  }

  giveBack(unused: number): void {
    this.saved = Math.min(MAX_SAVED, this.saved + unused);
  }
}
