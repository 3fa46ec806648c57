/** A map that forgets what was used longest ago once its entries weigh more than `capacity`; each weighs 1 where nothing else is said. */
export class BoundedMap<K, V> {
  private readonly entries = new Map<K, V>();
  private readonly capacity: number;
  private readonly forgotten: (value: V) => void;
  private readonly weigh: (value: V) => number;
  private weight = 0;

  /** `forgotten` is called with each entry that was evicted for a newer one. An entry always weighs the same. */
  constructor(capacity: number, forgotten: (value: V) => void = () => undefined, weigh: (value: V) => number = () => 1) {
    this.capacity = capacity;
    this.forgotten = forgotten;
    this.weigh = weigh;
  }

  get(key: K): V | undefined {
    const value = this.entries.get(key);
    if (value === undefined) return undefined;
    // Moving an entry costs two hash operations: only worth it once something will have to go.
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
