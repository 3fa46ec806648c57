import { tenantSlug } from "@gatehouse/contracts/tenants";
import type { Clock } from "../kernel/clock.ts";
import type { Database } from "../store/database.ts";
import { tenantHasProfile } from "../store/tenants/tenants.ts";
import { BoundedMap } from "./bounded-map.ts";

const REMEMBERED = 10_000;
const REMEMBERED_MS = 30_000;

/** What is remembered of a name: whether the tenant has a compliance profile, or undefined if there is none of that name. */
type Profiled = boolean | undefined;

/**
 * Whether a tenant named by an unauthenticated caller exists. Its policies are not compiled for that, as otherwise anyone
 * who knows tenant names could have them read again and again.
 */
export class NamedTenants {
  private readonly lookups = new BoundedMap<string, { readonly profiled: Profiled; readonly until: number }>(REMEMBERED);
  private readonly db: Database;
  private readonly clock: Clock;

  constructor(db: Database, clock: Clock) {
    this.db = db;
    this.clock = clock;
  }

  /** Rejects if the database is needed and unreachable. */
  exist(id: string): boolean | Promise<boolean> {
    const profiled = this.profiled(id);
    return profiled instanceof Promise ? profiled.then((one) => one !== undefined) : profiled !== undefined;
  }

  /** Whether the tenant has a compliance profile; rejects as `exist` does. */
  hasProfile(id: string): boolean | Promise<boolean> {
    const profiled = this.profiled(id);
    return profiled instanceof Promise ? profiled.then((one) => one === true) : profiled === true;
  }

  /** Whether it exists, as remembered by this process; undefined if nothing is. */
  known(id: string): boolean | undefined {
    const known = this.lookups.get(id);
    return known && known.profiled !== undefined;
  }

  /** Whether it is remembered to have a compliance profile. */
  knownProfile(id: string): boolean {
    return this.lookups.get(id)?.profiled === true;
  }

  private profiled(id: string): Profiled | Promise<Profiled> {
    const known = this.lookups.get(id);
    if (known !== undefined && known.until > this.clock.now()) return known.profiled;
    if (!tenantSlug.safeParse(id).success) return undefined;
    return tenantHasProfile(this.db, id).then((profiled) => {
      this.lookups.set(id, { profiled, until: this.clock.now() + REMEMBERED_MS });
      return profiled;
    });
  }

  /** Must be called when the tenant is created, changed or deleted. */
  drop(id: string): void {
    this.lookups.delete(id);
  }

  dropAll(): void {
    this.lookups.clear();
  }
}
