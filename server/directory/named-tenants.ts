import { tenantSlug } from "@gatehouse/contracts/tenants";
import type { Clock } from "../kernel/clock.ts";
import type { Database } from "../store/database.ts";
import { tenantExists } from "../store/tenants/tenants.ts";
import { BoundedMap } from "./bounded-map.ts";

const REMEMBERED = 10_000;
const REMEMBERED_MS = 30_000;

/**
 * Whether a tenant named by an unauthenticated caller exists. Its policies are not compiled for that, as otherwise anyone
 * who knows tenant names could have them read again and again.
 */
export class NamedTenants {
  private readonly lookups = new BoundedMap<string, { readonly exists: boolean; readonly until: number }>(REMEMBERED);
  private readonly db: Database;
  private readonly clock: Clock;

  constructor(db: Database, clock: Clock) {
    this.db = db;
    this.clock = clock;
  }

  /** Rejects if the database is needed and unreachable. */
  exist(id: string): boolean | Promise<boolean> {
    const known = this.lookups.get(id);
    if (known !== undefined && known.until > this.clock.now()) return known.exists;
    if (!tenantSlug.safeParse(id).success) return false;
    return tenantExists(this.db, id).then((exists) => {
      this.lookups.set(id, { exists, until: this.clock.now() + REMEMBERED_MS });
      return exists;
    });
  }

  /** As remembered by this process; undefined if unknown. */
  known(id: string): boolean | undefined {
    return this.lookups.get(id)?.exists;
  }

  /** Must be called when the tenant is created, changed or deleted. */
  drop(id: string): void {
    this.lookups.delete(id);
  }

  dropAll(): void {
    this.lookups.clear();
  }
}
