import type { CredentialCache } from "../directory/credential-cache.ts";
import type { EndUserCache } from "../directory/end-user-cache.ts";
import type { WorkloadTokens } from "../directory/identity/workload-tokens.ts";
import type { Snapshots } from "../directory/snapshots.ts";
import type { Log } from "../kernel/log.ts";
import type { AbortReason, Call } from "./call.ts";

interface EndedAccessParts {
  readonly calls: {
    openOf(tenantId: string, userId: string | null): Call[];
    openWith(tenantId: string, credentialId: string): Call[];
    openIn(tenantId: string): Call[];
    tenantsOfOpen(): Set<string>;
  };
  readonly snapshots: Pick<Snapshots, "scope">;
  readonly users: EndUserCache;
  readonly credentials: Pick<CredentialCache, "find">;
  readonly workloads: Pick<WorkloadTokens, "trusts">;
  readonly log: Log;
}

/** Ends open calls, streams included, of users and keys whose access was revoked. */
export class EndedAccess {
  private readonly parts: EndedAccessParts;

  constructor(parts: EndedAccessParts) {
    this.parts = parts;
  }

  /** Call after a user changed and the cache has dropped them; `userId` null stands for all users of the tenant. */
  async review(tenantId: string, userId: string | null): Promise<void> {
    const { calls, users, log } = this.parts;
    for (const call of calls.openOf(tenantId, userId)) {
      try {
        if (call.user !== null && (await hasAccessNow(call, users))) continue;
        call.abort.abort("access_ended" satisfies AbortReason);
      } catch (error) {
        // The directory cannot be asked: calls that were admitted continue until it can.
        log.warn("access_not_reviewed", { call_id: call.id, error: error as Error });
      }
    }
  }

  /** Call once a policy change of the tenant is in force. Ends calls of suspended AI Systems, deleted groups and disabled tenants. */
  async reviewTenant(tenantId: string): Promise<void> {
    const { calls, snapshots, log } = this.parts;
    for (const call of calls.openIn(tenantId)) {
      if (call.scope === null || call.target.kind === "none") continue;
      try {
        const scope = await snapshots.scope(tenantId, call.scope.groupId);
        if (scope === null || !scope.tenant.enabled || scope.autonomy?.level === "suspended")
          call.abort.abort("access_ended" satisfies AbortReason);
      } catch (error) {
        log.warn("access_not_reviewed", { call_id: call.id, error: error as Error });
      }
    }
  }

  /** Call after the key with this hash changed. Rotating a key ends nothing: calls that used its previous value continue. */
  async reviewKey(keyHash: string): Promise<void> {
    const { calls, credentials, log } = this.parts;
    try {
      const key = await credentials.find(keyHash);
      if (key === null) return;
      for (const call of calls.openWith(key.tenant_id, key.id))
        if (key.revoked_at !== null || key.addresses?.has(call.ip) === false) call.abort.abort("access_ended" satisfies AbortReason);
    } catch (error) {
      log.warn("access_not_reviewed", { error: error as Error });
    }
  }

  /** Call after the tenant's trusted issuers changed and cached trust was dropped. */
  async reviewWorkloads(tenantId: string): Promise<void> {
    const { calls, workloads, log } = this.parts;
    for (const { identity, abort, id } of calls.openIn(tenantId)) {
      const provider = identity?.workloadProviderId;
      try {
        if (provider !== undefined && !(await workloads.trusts(tenantId, provider))) abort.abort("access_ended" satisfies AbortReason);
      } catch (error) {
        log.warn("access_not_reviewed", { call_id: id, error: error as Error });
      }
    }
  }

  /** Reviews everything, when the individual changes are not known. Call once all changes are in force. */
  async reviewAll(keys: readonly { readonly hash: string; readonly tenantId: string; readonly id: string }[]): Promise<void> {
    const { calls } = this.parts;
    for (const { hash, tenantId, id } of keys) if (calls.openWith(tenantId, id).length > 0) await this.reviewKey(hash);
    for (const tenantId of calls.tenantsOfOpen()) {
      await this.reviewTenant(tenantId);
      await this.reviewWorkloads(tenantId);
      await this.review(tenantId, null);
    }
  }
}

/** Whether the user may still call, and in the call's group. Actions in the portal itself need no group. */
async function hasAccessNow({ user, identity, scope, target }: Call, users: EndUserCache): Promise<boolean> {
  const now = user === null ? null : await users.find(user.tenant_id, user.id);
  if (now === null || !now.is_active) return false;
  if (identity?.since !== undefined && identity.since < now.tokens_valid_from.getTime()) return false;
  // `credentialId` is the user's own ID if they came with a token, else the key's ID.
  if (now.api_keys_suspended_at !== null && identity?.credentialId !== now.id) return false;
  return scope === null || target.kind === "none" || scope.groupId === identity?.keyGroupId || now.group_ids.includes(scope.groupId);
}
