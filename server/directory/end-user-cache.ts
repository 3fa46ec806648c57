import type { Database } from "../store/database.ts";
import { type EndUserIdentityRow, readEndUserIdentity } from "../store/people/end-users.ts";
import type { Clock } from "../kernel/clock.ts";
import { BoundedMap } from "./bounded-map.ts";

const MAX_KNOWN = 50_000;
const MAX_UNKNOWN = 10_000;
/** How long an unknown user is remembered as such. Creating the user removes the entry. */
const UNKNOWN_FOR_MS = 30_000;

/** An end user as calls use it, with the resource groups they belong to. */
export type EndUserIdentity = EndUserIdentityRow;

const keyOf = (tenantId: string, userId: string) => `${tenantId}/${userId}`;

/** End users with their memberships: bounded, and dropped when a change is announced. */
export class EndUserCache {
  private readonly known = new BoundedMap<string, EndUserIdentity>(MAX_KNOWN);
  private readonly unknown = new BoundedMap<string, number>(MAX_UNKNOWN);
  private readonly loading = new Map<string, Promise<EndUserIdentity | null>>();
  /** Keys that changed while being loaded, and must be read again. */
  private readonly stale = new Set<string>();
  private readonly db: Database;
  private readonly clock: Clock;

  constructor(db: Database, clock: Clock) {
    this.db = db;
    this.clock = clock;
  }

  /** Null if the user does not exist. Rejects if the database is needed and unreachable. */
  find(tenantId: string, userId: string): EndUserIdentity | null | Promise<EndUserIdentity | null> {
    const key = keyOf(tenantId, userId);
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const unknownUntil = this.unknown.get(key);
    if (unknownUntil !== undefined && unknownUntil > this.clock.now()) return null;
    const under = this.loading.get(key);
    if (under !== undefined) return under;
    const load = this.load(tenantId, userId).finally(() => {
      this.loading.delete(key);
      this.stale.delete(key);
    });
    this.loading.set(key, load);
    return load;
  }

  /** A null user drops all of the tenant's. */
  drop(tenantId: string, userId: string | null): void {
    if (userId !== null) {
      const key = keyOf(tenantId, userId);
      this.known.delete(key);
      this.unknown.delete(key);
      if (this.loading.has(key)) this.stale.add(key);
      return;
    }
    const prefix = keyOf(tenantId, "");
    for (const key of this.loading.keys()) if (key.startsWith(prefix)) this.stale.add(key);
    for (const map of [this.known, this.unknown]) for (const key of [...map.keys()]) if (key.startsWith(prefix)) map.delete(key);
  }

  dropAll(): void {
    this.known.clear();
    this.unknown.clear();
    for (const key of this.loading.keys()) this.stale.add(key);
  }

  private async load(tenantId: string, userId: string): Promise<EndUserIdentity | null> {
    const key = keyOf(tenantId, userId);
    for (;;) {
      this.stale.delete(key);
      const row = await readEndUserIdentity(this.db, tenantId, userId);
      if (this.stale.has(key)) continue;
      if (row === null) this.unknown.set(key, this.clock.now() + UNKNOWN_FOR_MS);
      else this.known.set(key, row);
      return row;
    }
  }
}
