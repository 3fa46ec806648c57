/** A map that forgets what was used longest ago once it holds `capacity` entries. */
export class BoundedMap<K, V> {
  private readonly entries = new Map<K, V>();
  private readonly capacity: number;
  private readonly forgotten: (value: V) => void;

  /** `forgotten` is called with each entry that was evicted for a newer one. */
  constructor(capacity: number, forgotten: (value: V) => void = () => undefined) {
    this.capacity = capacity;
    this.forgotten = forgotten;
  }

  get(key: K): V | undefined {
    const value = this.entries.get(key);
    if (value === undefined) return undefined;
    // Moving an entry costs two hash operations: only worth it once something will have to go.
    if (this.entries.size * 2 > this.capacity) {
      this.entries.delete(key);
      this.entries.set(key, value);
    }
    return value;
  }

  has(key: K): boolean {
    return this.entries.has(key);
  }

  set(key: K, value: V): void {
    this.entries.delete(key);
    this.entries.set(key, value);
    if (this.entries.size > this.capacity) {
      const oldest = this.entries.entries().next();
      if (oldest.done) return;
      const [oldKey, old] = oldest.value;
      this.entries.delete(oldKey);
      this.forgotten(old);
    }
  }

  delete(key: K): void {
    this.entries.delete(key);
  }

  clear(): void {
    this.entries.clear();
  }

  keys(): IterableIterator<K> {
    return this.entries.keys();
  }

  get size(): number {
    return this.entries.size;
  }
}
