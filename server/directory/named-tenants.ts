import { tenantSlug } from "@gatehouse/contracts/tenants";
import type { Clock } from "../kernel/clock.ts";
import type { Database } from "../store/database.ts";
import { tenantExists } from "../store/tenants/tenants.ts";
import { BoundedMap } from "./bounded-map.ts";

const REMEMBERED = 10_000;
const REMEMBERED_MS = 30_000;

/**
 * Whether there is a tenant that a stranger names. Nothing of it is compiled for that: whoever knows names of tenants
 * could else have their policies read again and again.
 */
export class NamedTenants {
  private readonly asked = new BoundedMap<string, { readonly exists: boolean; readonly until: number }>(REMEMBERED);
  private readonly db: Database;
  private readonly clock: Clock;

  constructor(db: Database, clock: Clock) {
    this.db = db;
    this.clock = clock;
  }

  /** Rejects when the database is needed and away. */
  exist(id: string): boolean | Promise<boolean> {
    const known = this.asked.get(id);
    if (known !== undefined && known.until > this.clock.now()) return known.exists;
    if (!tenantSlug.safeParse(id).success) return false;
    return tenantExists(this.db, id).then((exists) => {
      this.asked.set(id, { exists, until: this.clock.now() + REMEMBERED_MS });
      return exists;
    });
  }

  /** As far as this process remembers. */
  known(id: string): boolean | undefined {
    return this.asked.get(id)?.exists;
  }

  /** It was made, changed or deleted. */
  drop(id: string): void {
    this.asked.delete(id);
  }

  dropAll(): void {
    this.asked.clear();
  }
}
