/** Half-life of the weight of started lines. */
const HALF_MS = 10_000;

interface Share {
  begun: number;
  at: number;
}

/**
 * Fair scheduling of batch lines: the tenant with the fewest recently started lines is next, and within it the job with the fewest. A short
 * job next to a long one takes little longer than alone, and a tenant gains nothing by submitting many jobs.
 */
export class FairTurns {
  private readonly shares = new Map<string, Share>();
  private readonly now: () => number;

  constructor(now: () => number) {
    this.now = now;
  }

  next<Job extends { readonly id: string; readonly tenant_id: string }>(jobs: readonly Job[]): Job | null {
    let best: Job | null = null;
    let least: readonly [number, number] = [0, 0];
    for (const job of jobs) {
      const weight = [this.begunFor(`tenant ${job.tenant_id}`), this.begunFor(job.id)] as const;
      if (best === null || weight[0] < least[0] || (weight[0] === least[0] && weight[1] < least[1])) {
        best = job;
        least = weight;
      }
    }
    return best;
  }

  /** The tenant with the fewest recently started lines; null if there are none. */
  leastServed(tenantIds: Iterable<string>): string | null {
    let least: string | null = null;
    for (const id of tenantIds) if (least === null || this.begunFor(`tenant ${id}`) < this.begunFor(`tenant ${least}`)) least = id;
    return least;
  }

  began(job: { readonly id: string; readonly tenant_id: string }, lines: number): void {
    for (const key of [`tenant ${job.tenant_id}`, job.id]) this.shares.set(key, { begun: this.begunFor(key) + lines, at: this.now() });
  }

  /** Drops shares whose weight has decayed to almost nothing. */
  prune(): void {
    for (const key of this.shares.keys()) if (this.begunFor(key) < 0.01) this.shares.delete(key);
  }

  private begunFor(key: string): number {
    const share = this.shares.get(key);
    return share === undefined ? 0 : share.begun * 0.5 ** ((this.now() - share.at) / HALF_MS);
  }
}
