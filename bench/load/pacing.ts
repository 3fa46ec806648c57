import type { Connection } from "./connection.ts";

/** Decides when which free connection sends a call. */
export interface Pacing {
  free(connection: Connection): void;
  /** Starts sending calls, until `deadline`. */
  begin(deadline: number): void;
  /** Stops sending calls. */
  end(): void;
  /** Number of calls sent. */
  readonly started: number;
}

/** Each connection sends its next call as soon as it is free, up to `limit` calls in all. */
export class ClosedLoop implements Pacing {
  private readonly limit: number;
  private deadline = 0;
  started = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  begin(deadline: number): void {
    this.deadline = deadline;
  }

  end(): void {
    this.deadline = 0;
  }

  free(connection: Connection): void {
    if (this.started >= this.limit || performance.now() >= this.deadline) return connection.rest();
    this.started++;
    connection.send();
  }
}

/** How often to check for due calls: as often as timers allow. */
const TICK_MS = 1;

/**
 * Sends a fixed number of calls per second, regardless of answers. If no connection is free, the call waits and its latency counts from
 * when it was due (no coordinated omission). If this process itself is late, latency counts from sending.
 */
export class OpenLoop implements Pacing {
  private readonly everyMs: number;
  private readonly waiting: Connection[] = [];
  private beganAt = 0;
  private deadline = 0;
  private timer: Timer | undefined;
  /** Whether calls are due and no connection was free. */
  private isBehind = false;
  started = 0;

  constructor(perSecond: number) {
    this.everyMs = 1_000 / perSecond;
  }

  begin(deadline: number): void {
    this.beganAt = performance.now();
    this.deadline = deadline;
    this.timer = setInterval(() => this.sendDue(), TICK_MS);
  }

  end(): void {
    clearInterval(this.timer);
    this.timer = undefined;
    for (const connection of this.waiting.splice(0)) connection.rest();
  }

  free(connection: Connection): void {
    if (this.timer === undefined) return connection.rest();
    this.waiting.push(connection);
    if (this.isBehind) this.sendDue();
  }

  private sendDue(): void {
    const now = performance.now();
    for (let dueAt = this.beganAt + this.started * this.everyMs; dueAt <= Math.min(now, this.deadline); dueAt += this.everyMs) {
      const connection = this.waiting.pop();
      if (connection === undefined) {
        this.isBehind = true;
        return;
      }
      this.started++;
      connection.send(this.isBehind ? dueAt : now);
    }
    this.isBehind = false;
    if (now >= this.deadline) this.end();
  }
}
