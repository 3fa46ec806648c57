import type { Parts } from "./plan-parts.ts";

/** Capacity of a bucket. An inherited burst belongs to the rate it was set with and never widens a group's own rate. */
export function capacityOf(perMinute: number, burst: number | null, inherited: boolean): number {
  if (burst === null) return perMinute;
  return inherited ? Math.min(perMinute, burst) : burst;
}

/** A model's or routing group's own ceilings across all groups; null: none. */
interface CapacityCaps {
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  readonly concurrent: number | null;
}

/** Adds the ceilings that all users of a model or routing group share. */
export function addCapacity(parts: Parts, key: string, name: string, caps: CapacityCaps): void {
  const { requestsPerMinute, tokensPerMinute, concurrent } = caps;
  if (requestsPerMinute === null && tokensPerMinute === null && concurrent === null) return;
  const scope = parts.scopes.push({ key, kind: "capacity", groupId: key, groupName: name, cooldownMs: 0, maxConcurrent: concurrent }) - 1;
  if (requestsPerMinute !== null)
    parts.buckets.push({
      key: `${key}/requests`,
      scope,
      measure: "requests",
      perMinute: requestsPerMinute,
      capacity: requestsPerMinute,
      limitType: "requests_per_minute",
    });
  if (tokensPerMinute !== null)
    parts.buckets.push({
      key: `${key}/tokens`,
      scope,
      measure: "tokens",
      perMinute: tokensPerMinute,
      capacity: tokensPerMinute,
      limitType: "tokens_per_minute",
    });
}
