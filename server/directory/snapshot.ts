import type { MicroUsd } from "../kernel/money.ts";
import type { SecretBox } from "../kernel/secrets.ts";
import type { GroupChainRow, TenantPolicyRows } from "../store/policy-reads.ts";
import { policyTreeOf } from "./limits/policy-rows.ts";
import type { PolicyTree } from "./limits/policy-tree.ts";

/**
 * A tenant's policy, compiled and immutable: what a call looks at instead of the database. Renewed as a whole when the
 * configuration changes.
 */
export interface TenantSnapshot {
  readonly id: string;
  readonly enabled: boolean;
  readonly storeBodies: "full" | "redacted" | "none";
  readonly models: ReadonlyMap<string, ModelEntry>;
  readonly modelsByName: ReadonlyMap<string, ModelEntry>;
  /** By the provider's own name, which several models may share. */
  readonly modelsByModelName: ReadonlyMap<string, readonly ModelEntry[]>;
  /** Its groups with their limit and governance documents. */
  readonly policies: PolicyTree;
}

export interface ModelEntry {
  readonly id: string;
  readonly name: string;
  readonly modelName: string;
  readonly modes: readonly string[];
  readonly enabled: boolean;
  readonly createdSeconds: number;
  readonly contextWindow: number | null;
  readonly maxOutputTokens: number | null;
  readonly defaultTemperature: number | null;
  readonly defaultMaxTokens: number | null;
  readonly systemPrompt: string | null;
  readonly prices: Prices;
  readonly caps: CapacityCaps;
  readonly provider: ProviderEntry;
}

/** A model's or routing group's own ceilings across all groups; null is none. */
export interface CapacityCaps {
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  readonly concurrent: number | null;
}

/** Micro-dollars per million tokens; null is unpriced. */
export interface Prices {
  readonly input: MicroUsd | null;
  readonly output: MicroUsd | null;
  readonly cacheRead: MicroUsd | null;
  readonly cacheWrite: MicroUsd | null;
}

export interface ProviderEntry {
  readonly providerKey: string;
  readonly apiFormat: string;
  readonly baseUrl: string;
  /** Opened; lives in memory only. */
  readonly apiKey: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly region: string | null;
  readonly enabled: boolean;
}

/** What a resource group's callers may use. */
export interface GroupScope {
  readonly groupId: string;
  readonly groupName: string;
  readonly tenant: TenantSnapshot;
  /** The group and its ancestors, nearest first. */
  readonly chain: readonly { readonly id: string; readonly name: string }[];
  readonly granted: ReadonlySet<string>;
}

/** Binds a sealed upstream secret to the record it was stored with. */
export function sealContext(table: "providers" | "models", id: string): string {
  return `${table}.api_key:${id}`;
}

export function compileTenant(rows: TenantPolicyRows, secrets: SecretBox): TenantSnapshot {
  const providers = new Map(rows.providers.map((row) => [row.id, row]));
  const providerKeys = new Map(rows.providers.map((row) => [row.id, row.api_key_sealed === null ? null : secrets.open(row.api_key_sealed, sealContext("providers", row.id))]));
  const models = new Map<string, ModelEntry>();
  const modelsByName = new Map<string, ModelEntry>();
  const modelsByModelName = new Map<string, ModelEntry[]>();
  for (const row of rows.models) {
    const provider = providers.get(row.provider_id);
    if (provider === undefined) continue;
    const entry: ModelEntry = {
      id: row.id,
      name: row.name,
      modelName: row.model_name,
      modes: row.modes,
      enabled: row.enabled,
      createdSeconds: Math.floor(row.created_at.getTime() / 1000),
      contextWindow: row.context_window,
      maxOutputTokens: row.max_output_tokens,
      defaultTemperature: row.default_temperature,
      defaultMaxTokens: row.default_max_tokens,
      systemPrompt: row.system_prompt,
      prices: { input: row.input_cost, output: row.output_cost, cacheRead: row.cache_read_cost, cacheWrite: row.cache_write_cost },
      caps: { requestsPerMinute: row.rate_limit_rpm, tokensPerMinute: row.rate_limit_tpm, concurrent: row.max_concurrent_requests },
      provider: {
        providerKey: provider.provider_key,
        apiFormat: provider.api_format,
        baseUrl: (row.base_url ?? provider.base_url ?? "").replace(/\/+$/, ""),
        apiKey: row.api_key_sealed === null ? (providerKeys.get(provider.id) ?? null) : secrets.open(row.api_key_sealed, sealContext("models", row.id)),
        headers: provider.headers,
        region: row.residency_region ?? provider.region,
        enabled: provider.enabled,
      },
    };
    models.set(entry.id, entry);
    modelsByName.set(entry.name, entry);
    const sharing = modelsByModelName.get(entry.modelName);
    if (sharing === undefined) modelsByModelName.set(entry.modelName, [entry]);
    else sharing.push(entry);
  }
  return { id: rows.tenant.id, enabled: rows.tenant.enabled, storeBodies: rows.tenant.data_retention.store_bodies, models, modelsByName, modelsByModelName, policies: policyTreeOf(rows) };
}

/** One scope for each group that is there. */
export function compileScopes(tenant: TenantSnapshot, rows: readonly GroupChainRow[]): Map<string, GroupScope> {
  const byLeaf = new Map<string, GroupChainRow[]>();
  for (const row of rows) {
    const chain = byLeaf.get(row.leaf);
    if (chain === undefined) byLeaf.set(row.leaf, [row]);
    else chain.push(row);
  }
  const scopes = new Map<string, GroupScope>();
  for (const [leaf, chain] of byLeaf) {
    scopes.set(leaf, {
      groupId: leaf,
      groupName: chain[0]?.name ?? "",
      tenant,
      chain: chain.map(({ id, name }) => ({ id, name })),
      granted: new Set(chain.flatMap((row) => row.model_ids)),
    });
  }
  return scopes;
}
