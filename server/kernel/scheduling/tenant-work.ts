/** How many items to take: in total, and per tenant including those already in progress. */
export interface TenantTurns {
  readonly most: number;
  readonly mostOfOne: number;
  readonly underWay: ReadonlyMap<string, number>;
}

interface WorkOfTenants<Item> {
  /** Items in progress at once: in total, and per tenant, so that one tenant's slow ones do not use up all places. */
  readonly most: number;
  readonly mostOfOne: number;
  readonly take: (turns: TenantTurns) => Promise<readonly Item[]>;
  /** Must not reject. */
  readonly work: (item: Item) => Promise<void>;
}

/** How often to look for more while some are in progress. */
const POLL_INTERVAL_MS = 500;

/** Works on items of many tenants, and takes more whenever there is a place. */
export class TenantWork<Item extends { readonly tenantId: string }> {
  private readonly parts: WorkOfTenants<Item>;
  private readonly underWay = new Map<string, number>();

  constructor(parts: WorkOfTenants<Item>) {
    this.parts = parts;
  }

  /** Resolves once nothing is left to take and nothing is in progress. */
  async run(): Promise<void> {
    const { most, mostOfOne, take } = this.parts;
    const inProgress = new Set<Promise<void>>();
    for (;;) {
      const places = most - inProgress.size;
      const taken = places === 0 ? [] : await take({ most: places, mostOfOne, underWay: this.underWay });
      for (const item of taken) {
        const done = this.counted(item).finally(() => inProgress.delete(done));
        inProgress.add(done);
      }
      if (inProgress.size === 0) return;
      await oneOf(inProgress);
    }
  }

  private async counted(item: Item): Promise<void> {
    const { tenantId } = item;
    const count = (more: number) => this.underWay.set(tenantId, (this.underWay.get(tenantId) ?? 0) + more);
    count(1);
    try {
      await this.parts.work(item);
    } finally {
      if (count(-1).get(tenantId) === 0) this.underWay.delete(tenantId);
    }
  }
}

/** Resolves when one ends or it is time to look for more. */
async function oneOf(inProgress: ReadonlySet<Promise<void>>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  await Promise.race([...inProgress, new Promise<void>((resolve) => (timer = setTimeout(resolve, POLL_INTERVAL_MS)))]);
  clearTimeout(timer);
}
