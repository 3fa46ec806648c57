import { sha256Hex } from "../../kernel/secrets.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import type { Database } from "../../store/database.ts";
import {
  type ReturnedAddress,
  storeReturnedAddresses,
  pruneReturnedAddresses,
  wasReturned,
} from "../../store/tools/web-search-addresses.ts";
import { BoundedCache } from "../../kernel/collections/bounded-cache.ts";

/** The caller that received the addresses. */
export interface AddressHolder {
  readonly tenantId: string;
  readonly principal: string;
}

const CACHE_MS = 86_400_000;
const MAX = 50_000;

/**
 * The addresses that searches returned to callers, kept for a day. Fetching an address can leak data to its host, so
 * others are not fetched unless a group allows it. Kept in memory, and in the database for other processes.
 */
export class ReturnedAddresses {
  private readonly known: BoundedCache<true>;
  private readonly parts: { readonly db: Database; readonly clock: Clock; readonly log: Log };

  constructor(parts: ReturnedAddresses["parts"]) {
    this.parts = parts;
    this.known = new BoundedCache(MAX, () => parts.clock.now());
  }

  async give(to: AddressHolder, urls: readonly string[]): Promise<void> {
    const { db, clock, log } = this.parts;
    const addresses = [...new Set(urls.map(addressOf))];
    const given = addresses.map((address) => givenTo(to, address));
    for (const one of given) this.known.set(keyOf(one), true, CACHE_MS);
    // The search still succeeds if this fails; another process will then not accept the addresses until they are searched for
    // again.
    await storeReturnedAddresses(db, given, new Date(clock.now() + CACHE_MS)).catch((error: Error) =>
      log.warn("web_search_addresses_not_kept", { error }),
    );
  }

  async wasReturned(to: AddressHolder, url: URL): Promise<boolean> {
    const one = givenTo(to, addressOf(url.href));
    if (this.known.get(keyOf(one)) === true) return true;
    const { db, clock } = this.parts;
    return wasReturned(db, one, new Date(clock.now())).catch(() => false);
  }

  async prune(): Promise<void> {
    await pruneReturnedAddresses(this.parts.db, new Date(this.parts.clock.now()));
  }
}

/** Drops the fragment, which is never sent. */
function addressOf(url: string): string {
  const address = new URL(url);
  address.hash = "";
  return address.href;
}

function givenTo({ tenantId, principal }: AddressHolder, address: string): ReturnedAddress {
  return { tenantId, principal: sha256Hex(principal), address: sha256Hex(address) };
}

const keyOf = ({ principal, address }: ReturnedAddress) => `${principal} ${address}`;
