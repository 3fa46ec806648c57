import type { Call } from "../../../road/call.ts";
import { MAX_PROBLEMS } from "../../../wire/openai/body-checks.ts";
import { MAX_NAMED } from "../../../wire/responses/item-references.ts";
import type { CacheParts } from "./cache-store.ts";
import { StoreBackedCache } from "./store-backed-cache.ts";

/** Characters of items held in memory. */
const MAX = 32 * 1024 * 1024;
/** Fewer than usual per query, because items are long. */
const READ_BATCH = 64;

/**
 * Items of answers that the gateway wrote itself, as JSON by item ID: clients that rely on a vendor's store send back an item's ID instead
 * of the item. For tenants that store no bodies, items stay in memory only.
 */
export class ItemCache extends StoreBackedCache<string> {
  constructor(parts: CacheParts) {
    super(
      { name: "kept-items", most: MAX, weigh: ({ length }) => length, outlives: ({ scope }) => scope?.tenant.storeBodies !== "none" },
      parts,
    );
  }

  /**
   * Items in the order requested. Stops early once the items exceed what a request may name, or as many are unknown as an error reports.
   */
  override find(call: Call, ids: readonly string[]): ReadonlyMap<string, string> | Promise<ReadonlyMap<string, string>> {
    return ids.length <= READ_BATCH ? super.find(call, ids) : this.findInTurns(call, ids);
  }

  private async findInTurns(call: Call, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    let bytes = 0;
    for (let at = 0; at < ids.length && bytes <= MAX_NAMED && at - found.size < MAX_PROBLEMS; at += READ_BATCH)
      for (const [id, json] of await super.find(call, ids.slice(at, at + READ_BATCH))) {
        found.set(id, json);
        bytes += Buffer.byteLength(json);
      }
    return found;
  }
}
