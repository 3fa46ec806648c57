import type { ModelEntry, TenantSnapshot } from "../../../directory/snapshot.ts";
import type { AttemptParts } from "./attempt.ts";

/**
 * Whether the tenant lets its calls be processed where the model is. A model that does not say where is taken to be
 * outside every region, except the built-in echo, which leaves this process for nowhere.
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
