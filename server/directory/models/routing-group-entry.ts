import type { FallbackCondition, RoutingStrategy } from "@gatehouse/contracts/routing-groups";
import type { Selectable } from "kysely";
import type { ModelTable, RoutingGroupTable } from "../../store/tables/models.ts";
import type { ModelEntry } from "./model-entry.ts";

/** A virtual model: each call that names it is served by one of its members. */
export interface RoutingGroupEntry {
  /** The slug chosen by an admin. */
  readonly id: string;
  readonly name: string;
  /** The gateway's ID of the virtual model. */
  readonly modelId: string;
  readonly description: string | null;
  readonly mode: string;
  readonly strategy: RoutingStrategy;
  readonly enabled: boolean;
  /** This many failures within the window open a member's circuit for the cooldown. */
  readonly allowedFails: number;
  readonly cooldownSeconds: number;
  readonly cooldownWindowSeconds: number;
  /** Retries per request, over other healthy members first. */
  readonly retries: number;
  /** The minimum wait before a retry. */
  readonly retryAfterSeconds: number;
  /** Per attempt; null uses the gateway's default. */
  readonly timeoutSeconds: number | null;
  /** Limits of the group as a whole; null is unlimited. */
  readonly rpmLimit: number | null;
  readonly tpmLimit: number | null;
  readonly maxParallel: number | null;
  readonly createdSeconds: number;
  /** By descending weight, then by name, which is the order of the strategy `ordered`. Includes disabled members. */
  readonly members: readonly RoutingMember[];
}

export interface RoutingMember {
  readonly model: ModelEntry;
  /** 0 means only if no member of weight 1 or more can serve. */
  readonly weight: number;
  /** When it takes over calls of other members; absent: after their failures. */
  readonly fallbackOn?: readonly FallbackCondition[];
}

/** `rows` and `models` belong to one tenant, and `models` includes every row. */
export function compileRoutingGroups(
  groups: readonly Selectable<RoutingGroupTable>[],
  rows: readonly Selectable<ModelTable>[],
  models: ReadonlyMap<string, ModelEntry>,
): RoutingGroupEntry[] {
  const members = new Map<string, RoutingMember[]>(groups.map((group) => [group.id, []]));
  for (const row of rows) {
    const model = models.get(row.id);
    if (model !== undefined && row.routing_group_id !== null)
      members
        .get(row.routing_group_id)
        ?.push({ model, weight: row.routing_weight, fallbackOn: row.fallback_on as readonly FallbackCondition[] });
  }
  return groups.map((row) => ({
    id: row.id,
    name: row.name,
    modelId: row.model_id,
    description: row.description,
    mode: row.mode,
    strategy: row.routing_strategy as RoutingStrategy,
    enabled: row.enabled,
    allowedFails: row.allowed_fails,
    cooldownSeconds: row.cooldown_time,
    cooldownWindowSeconds: row.cooldown_window,
    retries: row.num_retries,
    retryAfterSeconds: row.retry_after,
    timeoutSeconds: row.timeout,
    rpmLimit: row.rpm_limit,
    tpmLimit: row.tpm_limit,
    maxParallel: row.max_parallel_requests,
    createdSeconds: Math.floor(row.created_at.getTime() / 1000),
    members: (members.get(row.id) ?? []).sort((a, b) => b.weight - a.weight || (a.model.name < b.model.name ? -1 : 1)),
  }));
}
