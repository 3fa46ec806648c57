import type { Database } from "../store/database.ts";
import { type EndUserIdentityRow, readEndUserIdentity } from "../store/end-users.ts";
import type { Clock } from "../kernel/clock.ts";
import { BoundedMap } from "./bounded-map.ts";

const MAX_KNOWN = 50_000;
const MAX_UNKNOWN = 10_000;
/** How long a user that is not there stays so without asking again. One made meanwhile is announced and dropped from here. */
const UNKNOWN_FOR_MS = 30_000;

/** An end user as a call meets them, with the resource groups they are in. */
export type EndUserIdentity = EndUserIdentityRow;

const keyOf = (tenantId: string, userId: string) => `${tenantId}/${userId}`;

/** End users with their memberships, as calls find them: bounded, dropped when a change is announced. */
export class EndUserCache {
  private readonly known = new BoundedMap<string, EndUserIdentity>(MAX_KNOWN);
  private readonly unknown = new BoundedMap<string, number>(MAX_UNKNOWN);
  private readonly loading = new Map<string, Promise<EndUserIdentity | null>>();
  /** Raised by each change, so that a read begun before it does not bring the old state back. */
  private generation = 0;
  private readonly db: Database;
  private readonly clock: Clock;

  constructor(db: Database, clock: Clock) {
    this.db = db;
    this.clock = clock;
  }

  /** Null for a user who is not there. Rejects when the database is needed and away. */
  find(tenantId: string, userId: string): EndUserIdentity | null | Promise<EndUserIdentity | null> {
    const key = keyOf(tenantId, userId);
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const unknownUntil = this.unknown.get(key);
    if (unknownUntil !== undefined && unknownUntil > this.clock.now()) return null;
    const under = this.loading.get(key);
    if (under !== undefined) return under;
    const load = this.load(tenantId, userId).finally(() => {
      if (this.loading.get(key) === load) this.loading.delete(key);
    });
    this.loading.set(key, load);
    return load;
  }

  /** A null user: all of the tenant's. */
  drop(tenantId: string, userId: string | null): void {
    this.generation++;
    this.loading.clear();
    if (userId !== null) {
      this.known.delete(keyOf(tenantId, userId));
      this.unknown.delete(keyOf(tenantId, userId));
      return;
    }
    const prefix = keyOf(tenantId, "");
    for (const map of [this.known, this.unknown]) for (const key of [...map.keys()]) if (key.startsWith(prefix)) map.delete(key);
  }

  dropAll(): void {
    this.generation++;
    this.known.clear();
    this.unknown.clear();
    this.loading.clear();
  }

  private async load(tenantId: string, userId: string): Promise<EndUserIdentity | null> {
    for (;;) {
      const generation = this.generation;
      const row = await readEndUserIdentity(this.db, tenantId, userId);
      if (generation !== this.generation) continue;
      if (row === null) this.unknown.set(keyOf(tenantId, userId), this.clock.now() + UNKNOWN_FOR_MS);
      else this.known.set(keyOf(tenantId, userId), row);
      return row;
    }
  }
}
