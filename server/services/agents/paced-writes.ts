const PACE_MS = 1_000;

/** Limits writes of a value that changes often to one a second; the last value is always written. `write` never throws. */
export class PacedWrites {
  private readonly write: () => Promise<void>;
  private pause: ReturnType<typeof setTimeout> | null = null;
  private isOwed = false;

  constructor(write: () => Promise<void>) {
    this.write = write;
  }

  async now(): Promise<void> {
    this.isOwed = false;
    this.rest();
    await this.write();
  }

  /** Writes immediately if the last write was long enough ago; otherwise schedules a write. */
  async soon(): Promise<void> {
    if (this.pause === null) return this.now();
    this.isOwed = true;
  }

  /** Writes any pending value and stops scheduling. */
  async end(): Promise<void> {
    if (this.isOwed) await this.now();
    if (this.pause !== null) clearTimeout(this.pause);
    this.pause = null;
  }

  private rest(): void {
    if (this.pause !== null) clearTimeout(this.pause);
    this.pause = setTimeout(() => {
      this.pause = null;
      if (this.isOwed) void this.now();
    }, PACE_MS);
  }
}
