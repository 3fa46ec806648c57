/** A map that evicts the least recently used entries once their total weight exceeds `capacity`. Entries weigh 1 by default. */
export class BoundedMap<K, V> {
  private readonly entries = new Map<K, V>();
  private readonly capacity: number;
  private readonly forgotten: (value: V) => void;
  private readonly weigh: (value: V) => number;
  private weight = 0;

  /** `forgotten` is called with each evicted value. An entry's weight must not change. */
  constructor(capacity: number, forgotten: (value: V) => void = () => undefined, weigh: (value: V) => number = () => 1) {
    this.capacity = capacity;
    this.forgotten = forgotten;
    this.weigh = weigh;
  }

  get(key: K): V | undefined {
    const value = this.entries.get(key);
    if (value === undefined) return undefined;
    // Reordering costs two hash operations, so it starts only once eviction is near.
    if (this.weight * 2 > this.capacity) {
      this.entries.delete(key);
      this.entries.set(key, value);
    }
    return value;
  }

  has(key: K): boolean {
    return this.entries.has(key);
  }

  set(key: K, value: V): void {
    this.delete(key);
    this.entries.set(key, value);
    this.weight += this.weigh(value);
    while (this.weight > this.capacity) {
      const oldest = this.entries.entries().next();
      if (oldest.done) return;
      const [oldKey, old] = oldest.value;
      this.delete(oldKey);
      this.forgotten(old);
    }
  }

  delete(key: K): void {
    const value = this.entries.get(key);
    if (value !== undefined && this.entries.delete(key)) this.weight -= this.weigh(value);
  }

  clear(): void {
    this.entries.clear();
    this.weight = 0;
  }

  keys(): IterableIterator<K> {
    return this.entries.keys();
  }

  values(): IterableIterator<V> {
    return this.entries.values();
  }

  get size(): number {
    return this.entries.size;
  }
}
