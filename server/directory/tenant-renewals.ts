import type { Log } from "../kernel/log.ts";

/** Concurrent renewals of different tenants; each holds a database connection while reading. */
const AT_ONCE = 4;
const RETRY_MS = 500;

interface Due {
  /** Monotonic milliseconds: since when the policy in force may differ from the stored one. */
  since: number;
  isUnderWay: boolean;
  /** Changed since the current renewal began. */
  again: boolean;
  /** The change was attempted and failed; nobody waits for the retry. */
  wasTried: boolean;
  /** Resolved by the end of the current renewal, and by the end of the next one. */
  told: (() => void)[];
  waiting: (() => void)[];
}

/**
 * Applies changed tenants independently, so that a tenant that is large or cannot be read delays only itself. Changes that
 * arrive during a renewal are merged into the next one, and failed renewals are retried until they succeed.
 */
export class TenantRenewals {
  private readonly due = new Map<string, Due>();
  private readonly queue: string[] = [];
  private readonly running = new Set<Promise<void>>();
  private stopped = false;
  private readonly renew: (tenantId: string) => Promise<void>;
  private readonly log: Log;

  constructor(renew: (tenantId: string) => Promise<void>, log: Log) {
    this.renew = renew;
    this.log = log;
  }

  /** Must be called when a change of the tenant is read. */
  changed(tenantId: string): void {
    const due = this.due.get(tenantId);
    if (due !== undefined) {
      due.again = due.isUnderWay;
      due.wasTried = false;
      return;
    }
    this.due.set(tenantId, { since: performance.now(), isUnderWay: false, again: false, wasTried: false, told: [], waiting: [] });
    this.enqueue(tenantId);
  }

  /** Resolves when all earlier changes are in force, or were attempted. Never rejects. */
  async settled(): Promise<void> {
    if (this.stopped) return;
    const untried = [...this.due.values()].filter(({ wasTried }) => !wasTried);
    const settled = untried.map(
      (due) => new Promise<void>((done) => void (due.isUnderWay && !due.again ? due.told : due.waiting).push(done)),
    );
    await Promise.all(settled);
  }

  /** Since when a change of the tenant has been waiting, monotonic milliseconds; null if none is. */
  dueSince(tenantId: string): number | null {
    return this.due.get(tenantId)?.since ?? null;
  }

  /** Resolves when no renewal is running any more. */
  async stop(): Promise<void> {
    this.stopped = true;
    await Promise.all(this.running);
    for (const { told, waiting } of this.due.values()) for (const done of [...told, ...waiting]) done();
    this.due.clear();
  }

  private enqueue(tenantId: string): void {
    this.queue.push(tenantId);
    this.next();
  }

  private next(): void {
    while (this.running.size < AT_ONCE && !this.stopped) {
      const tenantId = this.queue.shift();
      if (tenantId === undefined) return;
      const work = this.work(tenantId).finally(() => {
        this.running.delete(work);
        this.next();
      });
      this.running.add(work);
    }
  }

  private async work(tenantId: string): Promise<void> {
    const due = this.due.get(tenantId);
    if (due === undefined) return;
    const began = performance.now();
    Object.assign(due, { isUnderWay: true, again: false, told: due.waiting, waiting: [] });
    const isInForce = await this.renew(tenantId).then(
      () => true,
      (error: Error) => {
        this.log.warn("config_changes_unread", { tenant_id: tenantId, error });
        return false;
      },
    );
    due.isUnderWay = false;
    for (const done of due.told.splice(0)) done();
    if (!isInForce) {
      due.wasTried = !due.again;
      setTimeout(() => this.enqueue(tenantId), RETRY_MS).unref();
    } else if (due.again) {
      due.since = began;
      this.enqueue(tenantId);
    } else this.due.delete(tenantId);
  }
}
