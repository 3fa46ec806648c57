/** For caches weighed in characters: the overhead of an entry on top of its value. */
export const ENTRY_OVERHEAD = 1_000;

/** A cache with an expiry per entry. The oldest entries are evicted once the total weight exceeds the capacity. */
export class BoundedCache<Value> {
  private readonly entries = new Map<string, { readonly value: Value; readonly until: number; readonly weight: number }>();
  private readonly capacity: number;
  private readonly now: () => number;
  private weight = 0;

  constructor(capacity: number, now: () => number) {
    this.capacity = capacity;
    this.now = now;
  }

  get(key: string): Value | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.until > this.now()) return entry.value;
    this.delete(key);
    return undefined;
  }

  set(key: string, value: Value, ms: number, weight = 1): void {
    this.delete(key);
    if (ms <= 0 || weight > this.capacity) return;
    this.entries.set(key, { value, until: this.now() + ms, weight });
    this.weight += weight;
    for (const oldest of this.entries.keys()) {
      if (this.weight <= this.capacity) return;
      this.delete(oldest);
    }
  }

  private delete(key: string): void {
    const entry = this.entries.get(key);
    if (entry !== undefined && this.entries.delete(key)) this.weight -= entry.weight;
  }
}
