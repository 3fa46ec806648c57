/** An LRU map whose values weigh at most `most` together. */
export class WeighedMap<V> {
  private readonly entries = new Map<string, { readonly value: V; readonly weight: number }>();
  private readonly most: number;
  private weight = 0;

  constructor(most: number) {
    this.most = most;
  }

  get(key: string): V | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    this.entries.delete(key);
    this.entries.set(key, entry);
    return entry.value;
  }

  /** A value that alone exceeds the limit is not kept. */
  set(key: string, value: V, weight: number): void {
    this.delete(key);
    if (weight > this.most) return;
    this.entries.set(key, { value, weight });
    this.weight += weight;
    for (const [oldest] of this.entries) {
      if (this.weight <= this.most) break;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const entry = this.entries.get(key);
    if (entry === undefined) return;
    this.entries.delete(key);
    this.weight -= entry.weight;
  }

  get size(): number {
    return this.entries.size;
  }
}
