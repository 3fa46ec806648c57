import type { Dispatch } from "../../services/models/dispatch.ts";
import type { ItemCache } from "../../services/models/caches/item-cache.ts";
import type { StoredResponses } from "../../services/models/responses/stored-responses.ts";

/** What the routes that a conversation in the Responses format is sent to work with. */
export interface ResponseServices {
  readonly models: Dispatch;
  readonly items: Pick<ItemCache, "find" | "keep">;
  readonly responses: Pick<StoredResponses, "find" | "note" | "roomForOne" | "begun">;
}
