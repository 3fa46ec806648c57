import { BoundedMap } from "../bounded-map.ts";
import type { ModelEntry, TenantSnapshot } from "../snapshot.ts";

const MAX = 2_000;

/**
 * Models used by running batches and videos: as they are now or, if deleted meanwhile, as this process last knew them,
 * because started jobs must still be cancelled, fetched and paid for. Kept in memory only, so it is lost with the last
 * process that used the model.
 */
export class KnownModels {
  private readonly last = new BoundedMap<string, ModelEntry>(MAX);
  private readonly tenant: (id: string) => TenantSnapshot | null | Promise<TenantSnapshot | null>;

  constructor(tenant: KnownModels["tenant"]) {
    this.tenant = tenant;
  }

  async find(tenantId: string, modelId: string): Promise<ModelEntry | null> {
    const model = (await this.tenant(tenantId))?.models.get(modelId);
    if (model !== undefined) this.last.set(modelId, model);
    return model ?? this.last.get(modelId) ?? null;
  }
}
