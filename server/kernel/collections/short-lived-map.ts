/** After this many additions the map is copied, which frees its outgrown tables. */
const RENEWED_AFTER = 1_000;

/**
 * A map for entries that live for a moment, thousands per second, with small values; large values belong on a `Roster`. The map is copied
 * after every thousand additions, because an engine's map keeps the memory of deleted entries.
 */
export class ShortLivedMap<K, V> {
  private map = new Map<K, V>();
  private added = 0;

  get size(): number {
    return this.map.size;
  }

  get(key: K): V | undefined {
    return this.map.get(key);
  }

  has(key: K): boolean {
    return this.map.has(key);
  }

  set(key: K, value: V): void {
    if (++this.added > RENEWED_AFTER + this.map.size) {
      this.map = new Map(this.map);
      this.added = 0;
    }
    this.map.set(key, value);
  }

  delete(key: K): boolean {
    return this.map.delete(key);
  }

  /** A copy, unaffected by later additions and removals. */
  entries(): [K, V][] {
    return [...this.map];
  }

  values(): V[] {
    return [...this.map.values()];
  }
}
