import { type AddressRanges, addressRanges } from "../kernel/http/address-ranges.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Database } from "../store/database.ts";
import { type CredentialRow, readCredential, readKeyName, writeLastUsed } from "../store/credentials/credential-reads.ts";
import { BoundedMap } from "./bounded-map.ts";

const MAX_KNOWN = 50_000;
const MAX_UNKNOWN = 10_000;
/** How long an unknown key is remembered as such. Creating a key removes its entry. */
const UNKNOWN_FOR_MS = 30_000;

/** An API key as calls use it. */
export interface Credential extends CredentialRow {
  /** The addresses it is accepted from; null for every address. */
  readonly addresses: AddressRanges | null;
}

/** API keys by hash: bounded, with negative caching. */
export class CredentialCache {
  private readonly known = new BoundedMap<string, Credential>(MAX_KNOWN);
  private readonly unknown = new BoundedMap<string, number>(MAX_UNKNOWN);
  private readonly loading = new Map<string, Promise<Credential | null>>();
  /** Incremented by each change, so that a read that began earlier does not restore old state. */
  private generation = 0;
  private uses = new Map<string, Date>();
  private readonly db: Database;
  private readonly clock: Clock;

  constructor(db: Database, clock: Clock) {
    this.db = db;
    this.clock = clock;
  }

  /** Null if the key does not exist. Rejects if the database is needed and unreachable. */
  find(keyHash: string): Credential | null | Promise<Credential | null> {
    const known = this.known.get(keyHash);
    if (known !== undefined) return known;
    const unknownUntil = this.unknown.get(keyHash);
    if (unknownUntil !== undefined && unknownUntil > this.clock.now()) return null;
    const under = this.loading.get(keyHash);
    if (under !== undefined) return under;
    const load = this.load(keyHash).finally(() => this.loading.delete(keyHash));
    this.loading.set(keyHash, load);
    return load;
  }

  /** Null if the key was deleted. Rejects if the database is unreachable. */
  nameOf(tenantId: string, id: string): Promise<string | null> {
    return readKeyName(this.db, tenantId, id);
  }

  used(id: string): void {
    this.uses.set(id, new Date(this.clock.now()));
  }

  async writeUses(): Promise<void> {
    const uses = this.uses;
    this.uses = new Map();
    await writeLastUsed(this.db, uses);
  }

  drop(keyHash: string): void {
    this.generation++;
    this.known.delete(keyHash);
    this.unknown.delete(keyHash);
    this.loading.delete(keyHash);
  }

  /** Returns the keys that were cached. */
  dropAll(): { hash: string; tenantId: string; id: string }[] {
    const known = [...this.known.keys()].map((hash) => {
      const { tenant_id: tenantId, id } = this.known.get(hash) as Credential;
      return { hash, tenantId, id };
    });
    this.generation++;
    this.known.clear();
    this.unknown.clear();
    this.loading.clear();
    return known;
  }

  private async load(keyHash: string): Promise<Credential | null> {
    for (;;) {
      const generation = this.generation;
      const row = await readCredential(this.db, keyHash);
      if (generation !== this.generation) continue;
      const key = row === null ? null : { ...row, addresses: rangesOf(row) };
      if (key === null) this.unknown.set(keyHash, this.clock.now() + UNKNOWN_FOR_MS);
      else this.known.set(keyHash, key);
      return key;
    }
  }
}

/** A list that cannot be read allows no address. */
function rangesOf({ allowed_addresses: entries }: CredentialRow): AddressRanges | null {
  if (entries === null) return null;
  const ranges = addressRanges(entries);
  return typeof ranges === "number" ? { has: () => false } : ranges;
}
