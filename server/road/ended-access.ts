import type { EndUserCache } from "../directory/end-user-cache.ts";
import type { Log } from "../kernel/log.ts";
import type { AbortReason, Call } from "./call.ts";

/** Ends what is under way of people who are let in no more: a stream that was begun before is theirs no longer either. */
export class EndedAccess {
  private readonly parts: { calls: { openOf(tenantId: string, userId: string | null): Call[] }; users: EndUserCache; log: Log };

  constructor(parts: EndedAccess["parts"]) {
    this.parts = parts;
  }

  /** What is known of a person changed; null: of any of the tenant's. To be called once the cache has forgotten them. */
  async review(tenantId: string, userId: string | null): Promise<void> {
    const { calls, users, log } = this.parts;
    for (const call of calls.openOf(tenantId, userId)) {
      try {
        if (call.user !== null && (await isLetIn(call, users))) continue;
        call.abort.abort("access_ended" satisfies AbortReason);
      } catch (error) {
        // The directory cannot be asked: whoever was let in stays so until it can.
        log.warn("access_not_reviewed", { call_id: call.id, error: error as Error });
      }
    }
  }
}

async function isLetIn({ user, token }: Call, users: EndUserCache): Promise<boolean> {
  const now = user === null ? null : await users.find(user.tenant_id, user.id);
  return now !== null && now.is_active && (token === null || token.issuedAt >= now.tokens_valid_from.getTime());
}
