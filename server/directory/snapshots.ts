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
 * The compiled policies this process holds. A call finds them in memory; only the first call of a tenant or group waits
 * for the database. A new snapshot is compiled in the background and swapped atomically, so a call sees the old policy or the new one.
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

  /** `prepare`: what the first call under a new snapshot would pay for, done before it is in force. */
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

  /** Null when there is no such tenant or group. Rejects when the database is needed and away. */
  scope(tenantId: string, groupId: string): GroupScope | Promise<GroupScope | null> {
    const held = this.held.get(tenantId);
    return held?.scopes.get(groupId) ?? this.sharedScope(tenantId, groupId);
  }

  tenant(tenantId: string): TenantSnapshot | Promise<TenantSnapshot | null> {
    return this.held.get(tenantId)?.tenant ?? this.loadTenant(tenantId).then((held) => held?.tenant ?? null);
  }

  /** Before anybody calls: the first tenants there are, with some of their groups. Most gateways have few. */
  async preload(): Promise<void> {
    for (const tenantId of await tenantIds(this.db, PRELOADED_TENANTS)) {
      const held = await this.loadTenant(tenantId);
      const groups = [...(held?.tenant.policies.groupIds() ?? [])].slice(0, PRELOADED_GROUPS);
      await Promise.all(groups.map((groupId) => this.sharedScope(tenantId, groupId)));
    }
  }

  /** Compiles a tenant anew, with the scopes it holds, and puts it in place. Does nothing for one that is not held. */
  async renew(tenantId: string): Promise<void> {
    // A load under way may have read before the change: let it end, then read again.
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

  /** Calls that ask for the same at once share one read. */
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
      // A renewal meanwhile makes what was just compiled stale: compile it over the new snapshot.
      const now = this.held.get(tenantId);
      if (now !== undefined && now !== held) continue;
      if (scope !== null) held.scopes.set(groupId, scope);
      return scope;
    }
  }

  private async read(tenantId: string, groupIds: readonly string[]): Promise<Held | null> {
    // Strangers may name any: what no record can hold is the name of none.
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
    // One secret that this process's key does not open must not keep a whole tenant from being served, or its changes.
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
