import type { Log } from "../kernel/log.ts";
import type { SecretBox } from "../kernel/secrets.ts";
import { isStorableText } from "../kernel/text/storable.ts";
import type { Database } from "../store/database.ts";
import { readTenantPolicy } from "../store/records/policy-reads.ts";
import { readGroupChains } from "../store/groups/group-chains.ts";
import { tenantIds } from "../store/tenants/tenants.ts";
import { BoundedMap } from "./bounded-map.ts";
import { argumentPolicyEntries, type CompileArgumentPolicy } from "./policies/argument-policy-entry.ts";
import { compileScopes, compileTenant, type GroupScope, type TenantSnapshot } from "./snapshot.ts";

const MAX_TENANTS = 2_000;
const MAX_SCOPES_OF_A_TENANT = 10_000;
const PRELOADED_TENANTS = 4;
const PRELOADED_GROUPS = 4;

interface Held {
  readonly tenant: TenantSnapshot;
  readonly scopes: BoundedMap<string, GroupScope>;
}

/**
 * The compiled policies held by this process. Only the first call of a tenant or group waits for the database. New
 * snapshots are compiled in the background and swapped atomically, so that a call sees either the old policy or the new
 * one.
 */
export class Snapshots {
  private readonly held = new BoundedMap<string, Held>(MAX_TENANTS);
  private readonly loading = new Map<string, Promise<Held | null>>();
  private readonly loadingScopes = new Map<string, Promise<GroupScope | null>>();
  private readonly db: Database;
  private readonly secrets: SecretBox;
  private readonly compileArgumentPolicy: CompileArgumentPolicy;
  private readonly prepare: (tenant: TenantSnapshot) => void;
  private readonly log: Log;

  /** `prepare` runs before a snapshot takes effect, so that its first call does not pay for it. */
  constructor(
    db: Database,
    secrets: SecretBox,
    compileArgumentPolicy: CompileArgumentPolicy,
    log: Log,
    prepare: (tenant: TenantSnapshot) => void = () => undefined,
  ) {
    this.db = db;
    this.secrets = secrets;
    this.compileArgumentPolicy = compileArgumentPolicy;
    this.log = log;
    this.prepare = prepare;
  }

  /** Null if the tenant or group does not exist. Rejects if the database is needed and unreachable. */
  scope(tenantId: string, groupId: string): GroupScope | Promise<GroupScope | null> {
    const held = this.held.get(tenantId);
    return held?.scopes.get(groupId) ?? this.sharedScope(tenantId, groupId);
  }

  tenant(tenantId: string): TenantSnapshot | Promise<TenantSnapshot | null> {
    return this.held.get(tenantId)?.tenant ?? this.loadTenant(tenantId).then((held) => held?.tenant ?? null);
  }

  /** Loads the first tenants with some of their groups before any calls arrive; most gateways have few. */
  async preload(): Promise<void> {
    for (const tenantId of await tenantIds(this.db, PRELOADED_TENANTS)) {
      const held = await this.loadTenant(tenantId);
      const groups = [...(held?.tenant.policies.groupIds() ?? [])].slice(0, PRELOADED_GROUPS);
      await Promise.all(groups.map((groupId) => this.sharedScope(tenantId, groupId)));
    }
  }

  /** Recompiles a tenant with its held scopes and swaps it in. Does nothing for a tenant that is not held. */
  async renew(tenantId: string): Promise<void> {
    // A load in progress may have read before the change: wait for it, then read again.
    await this.loading.get(tenantId)?.catch(() => null);
    const held = this.held.get(tenantId);
    if (held === undefined) return;
    const fresh = await this.read(tenantId, [...held.scopes.keys()]);
    if (fresh === null) this.held.delete(tenantId);
    else this.held.set(tenantId, fresh);
  }

  async renewAll(): Promise<void> {
    for (const tenantId of new Set([...this.held.keys(), ...this.loading.keys()])) await this.renew(tenantId);
  }

  private loadTenant(tenantId: string): Promise<Held | null> {
    const under = this.loading.get(tenantId);
    if (under !== undefined) return under;
    const load = this.read(tenantId, [])
      .then((held) => {
        if (held !== null) this.held.set(tenantId, held);
        return held;
      })
      .finally(() => this.loading.delete(tenantId));
    this.loading.set(tenantId, load);
    return load;
  }

  /** Concurrent requests for the same scope share one read. */
  private sharedScope(tenantId: string, groupId: string): Promise<GroupScope | null> {
    const key = `${tenantId} ${groupId}`;
    const under = this.loadingScopes.get(key);
    if (under !== undefined) return under;
    const load = this.loadScope(tenantId, groupId).finally(() => this.loadingScopes.delete(key));
    this.loadingScopes.set(key, load);
    return load;
  }

  private async loadScope(tenantId: string, groupId: string): Promise<GroupScope | null> {
    for (;;) {
      const held = this.held.get(tenantId) ?? (await this.loadTenant(tenantId));
      if (held === null) return null;
      const scope = compileScopes(held.tenant, await readGroupChains(this.db, tenantId, [groupId])).get(groupId) ?? null;
      // The snapshot was replaced meanwhile: compile the scope again over the new one.
      const now = this.held.get(tenantId);
      if (now !== undefined && now !== held) continue;
      if (scope !== null) held.scopes.set(groupId, scope);
      return scope;
    }
  }

  private async read(tenantId: string, groupIds: readonly string[]): Promise<Held | null> {
    // The ID may come from an unauthenticated caller; text that cannot be stored names no tenant.
    const rows = isStorableText(tenantId) ? await readTenantPolicy(this.db, tenantId) : null;
    if (rows === null) return null;
    const argumentPolicies = await argumentPolicyEntries(
      rows.argument_policies,
      this.compileArgumentPolicy,
      this.held.get(tenantId)?.tenant.argumentPolicies ?? [],
    );
    const unreadable: string[] = [];
    const open: SecretBox["openOrNull"] = (sealed, context) => {
      const secret = this.secrets.openOrNull(sealed, context);
      if (sealed !== null && secret === null) unreadable.push(context);
      return secret;
    };
    const tenant = compileTenant(rows, open, argumentPolicies);
    // A secret that cannot be decrypted must not keep a whole tenant, or its changes, from being served.
    if (unreadable.length > 0)
      this.log.error("stored_keys_unreadable", { tenant_id: tenantId, keys: unreadable.length, first: unreadable[0] });
    this.prepare(tenant);
    const scopes = new BoundedMap<string, GroupScope>(MAX_SCOPES_OF_A_TENANT);
    if (groupIds.length > 0) {
      for (const [id, scope] of compileScopes(tenant, await readGroupChains(this.db, tenantId, groupIds))) scopes.set(id, scope);
    }
    return { tenant, scopes };
  }
}
