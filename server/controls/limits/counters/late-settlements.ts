import { PLAN_RETENTION_MS } from "../plans/plan-text.ts";

const AGAIN_MS = 500;
const AT_ONCE = 64;

interface LateSettlement {
  readonly send: () => Promise<unknown>;
  readonly until: number;
}

/**
 * Settlements that did not reach the shared store. A single timer waits until the store is reachable again; they are
 * then sent in batches, so that admissions get their turn in between.
 */
export class LateSettlements {
  private readonly waiting: LateSettlement[] = [];
  private readonly isAway: () => boolean;
  private sending: Promise<void> | null = null;
  private closed = false;

  constructor(isAway: () => boolean) {
    this.isAway = isAway;
  }

  add(send: () => Promise<unknown>): void {
    this.waiting.push({ send, until: performance.now() + PLAN_RETENTION_MS });
    this.sending ??= this.sendAll();
  }

  /** Settlements still unsent are left to the store, which gives back what dead processes hold. */
  async close(): Promise<void> {
    this.closed = true;
    await this.sending;
  }

  private async sendAll(): Promise<void> {
    while (this.waiting.length > 0 && !this.closed) {
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      while (this.waiting.length > 0 && !this.closed && !this.isAway() && (await this.sendSome()));
    }
    this.sending = null;
  }

  /** False if some of them failed again. */
  private async sendSome(): Promise<boolean> {
    const some = this.waiting.splice(0, AT_ONCE).filter(({ until }) => performance.now() < until);
    const sent = await Promise.allSettled(some.map(({ send }) => send()));
    const failed = some.filter((_, i) => sent[i]?.status === "rejected");
    this.waiting.push(...failed);
    return failed.length === 0;
  }
}
