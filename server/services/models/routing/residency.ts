import type { ModelEntry, TenantSnapshot } from "../../../directory/snapshot.ts";
import type { AttemptParts } from "./attempt.ts";

/**
 * Whether the tenant allows its calls to be processed where the model runs. A model without a region counts as outside every region, except
 * the built-in echo model, which leaves no data.
 */
export function residencyOf(
  tenant: TenantSnapshot,
  model: ModelEntry,
  providers: AttemptParts["providers"],
): "allowed" | "blocked" | "not_evaluated" {
  if (tenant.allowedRegions.size === 0) return "not_evaluated";
  if (providers[model.provider.apiFormat]?.traits.local === true) return "allowed";
  return model.provider.region !== null && tenant.allowedRegions.has(model.provider.region) ? "allowed" : "blocked";
}
