/** Beyond this, queued calls would cost more memory and time than they are worth. */
const MAX_WAITING = 20_000;

interface Ticket {
  readonly key: string;
  wake: ((why: WakeReason) => void) | null;
}

export type WakeReason = "turn" | "gone";

interface Queue {
  readonly tickets: Ticket[];
  timer: ReturnType<typeof setInterval> | null;
}

/**
 * FIFO queues of calls that a budget may still cover once calls in flight have settled. Only the head of a queue
 * retries, so a large call is not overtaken forever and a release wakes one call instead of thousands.
 */
export class AdmissionQueues {
  private readonly lines = new Map<string, Queue>();
  private readonly lookAgainMs: number | null;
  private waiting = 0;

  constructor(retryMs: number | null) {
    this.lookAgainMs = retryMs;
  }

  get full(): boolean {
    return this.waiting >= MAX_WAITING;
  }

  has(key: string): boolean {
    return this.lines.has(key);
  }

  get empty(): boolean {
    return this.lines.size === 0;
  }

  /** `first` joins at the head, for a call that must pass before the reservation which the others wait for can be released. */
  join(key: string, first = false): Ticket {
    const ticket: Ticket = { key, wake: null };
    let line = this.lines.get(key);
    if (line === undefined) {
      const fresh: Queue = { tickets: [], timer: null };
      if (this.lookAgainMs !== null) {
        fresh.timer = setInterval(() => fresh.tickets[0]?.wake?.("turn"), this.lookAgainMs);
        fresh.timer.unref();
      }
      line = fresh;
      this.lines.set(key, line);
    }
    if (first) line.tickets.unshift(ticket);
    else line.tickets.push(ticket);
    this.waiting++;
    return ticket;
  }

  /** Resolves with "turn" when the ticket heads its queue and something was released; with "gone" when aborted or after `ms`. */
  wait(ticket: Ticket, signal: AbortSignal, ms: number): Promise<WakeReason> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve("gone");
      const end = (why: WakeReason) => {
        ticket.wake = null;
        clearTimeout(timer);
        signal.removeEventListener("abort", gone);
        resolve(why);
      };
      const gone = () => end("gone");
      const timer = setTimeout(gone, ms);
      signal.addEventListener("abort", gone, { once: true });
      ticket.wake = end;
    });
  }

  /** Removes a call that was admitted or gave up, and wakes the next one if it was at the head. */
  leave(ticket: Ticket): void {
    const line = this.lines.get(ticket.key);
    const at = line?.tickets.indexOf(ticket) ?? -1;
    if (line === undefined || at < 0) return;
    line.tickets.splice(at, 1);
    this.waiting--;
    if (line.tickets.length === 0) {
      if (line.timer !== null) clearInterval(line.timer);
      this.lines.delete(ticket.key);
    } else if (at === 0) this.wakeFirst(line);
  }

  released(key: string): void {
    const line = this.lines.get(key);
    if (line !== undefined) this.wakeFirst(line);
  }

  private wakeFirst(line: Queue): void {
    line.tickets[0]?.wake?.("turn");
  }
}
