import type { Connection } from "./connection.ts";

/** Which free connection sends a call, and when. */
export interface Pacing {
  free(connection: Connection): void;
  /** From here on calls are sent until `deadline`. */
  begin(deadline: number): void;
  /** No more are. */
  end(): void;
  /** How many calls were sent. */
  readonly started: number;
}

/** Each connection sends its next call as soon as it is free, `limit` calls in all. */
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

/** How often it is looked whether a call is due: as often as timers allow. */
const TICK_MS = 1;

/**
 * So many calls a second, whatever was answered. A call that no connection was free for waits, and counts from when it was due: what a
 * target keeps waiting is not left out. One that is sent late because this process was, counts from when it was sent.
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
