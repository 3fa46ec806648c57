import type { Call } from "../../../road/call.ts";
import { MAX_PROBLEMS } from "../../../wire/openai/body-checks.ts";
import { MOST_NAMED } from "../../../wire/responses/item-references.ts";
import type { CacheParts } from "./cache-store.ts";
import { StoreBackedCache } from "./store-backed-cache.ts";

/** Characters of items that memory holds. */
const MOST = 32 * 1024 * 1024;
/** Items are long: so many are read at a time. */
const READ_TOGETHER = 64;

/**
 * Items of the answers that the gateway wrote itself, as JSON by their ids: clients that rely on a vendor's store send back
 * the id of an item instead of the item. Of tenants that want no body stored they stay in memory.
 */
export class ItemCache extends StoreBackedCache<string> {
  constructor(parts: CacheParts) {
    super(
      { name: "kept-items", most: MOST, weigh: ({ length }) => length, outlives: ({ scope }) => scope?.tenant.storeBodies !== "none" },
      parts,
    );
  }

  /** In the order in which they are named, and no further than a request may name items or is told of those that are not known. */
  override find(call: Call, ids: readonly string[]): ReadonlyMap<string, string> | Promise<ReadonlyMap<string, string>> {
    return ids.length <= READ_TOGETHER ? super.find(call, ids) : this.findInTurns(call, ids);
  }

  private async findInTurns(call: Call, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    let bytes = 0;
    for (let at = 0; at < ids.length && bytes <= MOST_NAMED && at - found.size < MAX_PROBLEMS; at += READ_TOGETHER)
      for (const [id, json] of await super.find(call, ids.slice(at, at + READ_TOGETHER))) {
        found.set(id, json);
        bytes += Buffer.byteLength(json);
      }
    return found;
  }
}
