/** The item's index in its roster, or -1. Written only by the roster. */
export interface OnRoster {
  place: number;
}

/**
 * An unordered set for short-lived items, thousands per second (decision 0037). Unlike `Set` and `Map`, it lets the engine's
 * young-generation collector free removed items. An item is on at most one roster.
 */
export class Roster<T extends OnRoster> {
  private readonly items: T[] = [];

  get size(): number {
    return this.items.length;
  }

  has(item: T): boolean {
    return this.items[item.place] === item;
  }

  add(item: T): void {
    item.place = this.items.length;
    this.items.push(item);
  }

  /** Does nothing if the item is not on the roster. */
  delete(item: T): void {
    if (!this.has(item)) return;
    const last = this.items.pop() as T;
    if (last !== item) {
      this.items[item.place] = last;
      last.place = item.place;
    }
    item.place = -1;
  }

  /** A copy, unaffected by later additions and removals. */
  all(): T[] {
    return [...this.items];
  }
}
