import type { Dispatch } from "../../services/models/dispatch.ts";
import type { ItemCache } from "../../services/models/caches/item-cache.ts";
import type { StoredResponses } from "../../services/models/responses/stored-responses.ts";

/** Dependencies of the routes for conversations in the Responses format. */
export interface ResponseServices {
  readonly models: Dispatch;
  readonly items: Pick<ItemCache, "find" | "keep">;
  readonly responses: Pick<StoredResponses, "find" | "note" | "roomForOne" | "begun">;
}
