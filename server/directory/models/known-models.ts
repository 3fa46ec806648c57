import { BoundedMap } from "../bounded-map.ts";
import type { ModelEntry, TenantSnapshot } from "../snapshot.ts";

const MOST = 2_000;

/**
 * Models that batches or videos are under way with, as they are now or, where one was deleted meanwhile, as this process knew it last:
 * what a provider was asked to do is still to be called off, fetched and paid for. Held in memory alone: once no process that
 * met the model lives, nobody can.
 */
export class KnownModels {
  private readonly last = new BoundedMap<string, ModelEntry>(MOST);
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
