/** Where an item stands in its roster; -1 in none. Written by the roster alone. */
export interface OnRoster {
  place: number;
}

/**
 * What is there for a moment, of which thousands come and go in a second, in no order (decision 0037): the engine's quick collections free
 * what stood on it, which they do not of what ever stood in a `Set` or `Map`. An item is on one roster at a time.
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

  /** Of one that is not there, nothing. */
  delete(item: T): void {
    if (!this.has(item)) return;
    const last = this.items.pop() as T;
    if (last !== item) {
      this.items[item.place] = last;
      last.place = item.place;
    }
    item.place = -1;
  }

  /** Those that are there now: what comes or goes meanwhile changes nothing. */
  all(): T[] {
    return [...this.items];
  }
}
