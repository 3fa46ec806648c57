import type { KeptParts } from "./kept-store.ts";
import { KeptValues } from "./kept-values.ts";

/** Characters of items that memory holds. */
const MOST = 32 * 1024 * 1024;

/**
 * Items of the answers that the gateway wrote itself, as JSON by their ids: clients that rely on a vendor's store send back
 * the id of an item instead of the item. Of tenants that want no body stored they stay in memory.
 */
export class KeptItems extends KeptValues<string> {
  constructor(parts: KeptParts) {
    super(
      { name: "kept-items", most: MOST, weigh: ({ length }) => length, outlives: ({ scope }) => scope?.tenant.storeBodies !== "none" },
      parts,
    );
  }
}
