import { reasonOf } from "../../kernel/errors.ts";
import type { ChainHead } from "../chains/chain.ts";
import { Shipping, type ShippingOptions } from "./shipping.ts";
import { ShipWaiters } from "./ship-waiters.ts";

export interface ShipperOptions extends ShippingOptions {
  /** How long rows may wait to be shipped together. */
  readonly waitMs: number;
}

/** Copies the journal into the database, in order and exactly once. Reads from the files, so a backlog takes no memory. */
export interface Shipper {
  /** Call after writing something to be shipped. */
  notify(): void;
  /** Resolves when everything written so far is in the database; rejects when that can no longer happen. */
  shipped(): Promise<void>;
  /** Ends the loop after the current statement. */
  stop(): Promise<void>;
  readonly shippedHead: ChainHead;
  /** Whether the journal may hold rows that were erased on their arrival in the database; reset by whoever clears the journal of them. */
  erasedArrivals: boolean;
  readonly failing: string | null;
}

const WAKE_ROWS = 1_000;
const BACKOFF_MS = { first: 100, last: 5_000 };

export function startShipper(options: ShipperOptions): Shipper {
  return new ShippingLoop(options);
}

class ShippingLoop implements Shipper {
  failing: string | null = null;
  private readonly options: ShipperOptions;
  private readonly shipping: Shipping;
  private readonly waiters = new ShipWaiters();
  private readonly ended: Promise<void>;
  private backoff = BACKOFF_MS.first;
  private stopping = false;
  private hurried = false;
  private pending = false;
  private wake: (() => void) | null = null;

  constructor(options: ShipperOptions) {
    this.options = options;
    this.shipping = new Shipping(options);
    this.ended = this.loop();
  }

  get shippedHead(): ChainHead {
    return this.shipping.shippedHead;
  }

  get erasedArrivals(): boolean {
    return this.shipping.erasedArrivals;
  }

  set erasedArrivals(some: boolean) {
    this.shipping.erasedArrivals = some;
  }

  notify(): void {
    if (this.pending) {
      // The first row of a batch started its timer; a full batch goes at once.
      if (this.failing === null && this.isFullBatch()) this.wake?.();
      return;
    }
    this.pending = true;
    this.wake?.();
  }

  shipped(): Promise<void> {
    if (this.stopped) return Promise.reject(new Error("the shipper has stopped"));
    const arrival = this.waiters.arrival(this.options.journal.written);
    this.hurried = true;
    this.pending = true;
    this.wake?.();
    return arrival;
  }

  async stop(): Promise<void> {
    this.stopping = true;
    this.wake?.();
    await this.ended;
  }

  private get stopped(): boolean {
    return this.stopping || this.shipping.lost;
  }

  private isFullBatch(): boolean {
    return this.options.chain.head.seq - this.shipping.shippedHead.seq >= WAKE_ROWS;
  }

  /** Waits until woken or, unless null, `ms` milliseconds; a stop always wakes. */
  private sleep(ms: number | null): Promise<void> {
    return new Promise((resolve) => {
      const timer = ms === null ? undefined : setTimeout(() => this.wake?.(), ms);
      this.wake = () => {
        clearTimeout(timer);
        this.wake = null;
        resolve();
      };
    });
  }

  /** Ships what is there when it starts; chasing rows that arrive meanwhile would ship small batches at the cost of large ones. */
  private async drain(): Promise<void> {
    const { journal } = this.options;
    // A failed journal still ships what it had stored.
    if (journal.failed === null) await journal.synced().catch(() => undefined);
    const until = journal.stable;
    while (!this.stopped && this.shipping.behind(until)) {
      if (!(await this.shipping.next())) break;
      this.waiters.settle(this.shipping.cursor);
    }
    this.waiters.settle(this.shipping.cursor);
    if (journal.failed !== null) this.waiters.reject(journal.failed);
  }

  private async loop(): Promise<void> {
    const { log, journal, waitMs } = this.options;
    while (!this.stopped) {
      if (!this.pending) {
        this.shipping.rest();
        await this.sleep(null);
      }
      if (!this.stopped && !this.hurried && !this.isFullBatch()) await this.sleep(waitMs);
      if (this.stopped) break;
      this.pending = false;
      this.hurried = this.waiters.some;
      try {
        await this.drain();
        this.hurried = this.waiters.some;
        this.pending ||= this.shipping.behind(journal.stable);
        this.backoff = BACKOFF_MS.first;
        if (this.failing !== null) log.info("audit_shipping_resumed");
        this.failing = null;
      } catch (error) {
        if (this.failing === null) log.warn("audit_shipping_delayed", { error: error as Error });
        this.failing = reasonOf(error);
        this.pending = true;
        await this.sleep(this.backoff);
        this.backoff = Math.min(BACKOFF_MS.last, this.backoff * 2);
      }
    }
    this.stopping = true;
    this.waiters.reject("the shipper has stopped");
  }
}
