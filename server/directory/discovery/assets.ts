import type { Asset, AssetCreate, AssetQuery, AssetUpdate } from "@gatehouse/contracts/discovery";
import { uuid } from "../../kernel/ids.ts";
import {
  type AssetInsert,
  type AssetPatch,
  type AssetRow,
  assetStore,
  type SyncCounts,
  syncAssetRows,
} from "../../store/discovery/assets.ts";
import { invalidField, records } from "../writes/records.ts";
import type { Write } from "../writes/write.ts";
import { readAsset } from "./asset-record.ts";

const SYNCED_MEMBERS = ["name", "asset_type", "endpoint", "status"] as const;

/** The registry of all AI known to a tenant. Facts about records and findings are derived from those; ownership is stored here. */
export const assets = records<AssetRow, AssetInsert, AssetPatch, Asset, AssetCreate, AssetUpdate, AssetQuery, string>({
  resource: "assets",
  noun: "asset",
  store: assetStore,
  read: readAsset,
  tenantOf: (row) => row.tenant_id,
  takenBy: async () => undefined,
  async toInsert(write, tenantId, body) {
    return {
      ...body,
      id: uuid(),
      tenant_id: tenantId,
      description: body.description ?? null,
      owner: body.owner ?? null,
      criticality: body.criticality ?? null,
      endpoint: body.endpoint ?? null,
      // An entry made by hand proves nothing.
      governance_status: "ungoverned",
      source_kind: null,
      source_id: null,
      created_at: write.now,
      updated_at: write.now,
    } as AssetInsert;
  },
  async toPatch(write, _tenantId, row, body) {
    const synced = row.source_id === null ? undefined : SYNCED_MEMBERS.find((name) => body[name] !== undefined && body[name] !== row[name]);
    if (synced !== undefined) throw invalidField(synced, "follows the record or finding that the asset was synced from");
    return { ...body, updated_at: write.now } as AssetPatch;
  },
  dependents: async () => [],
  notify: () => undefined,
});

export async function syncAssets(write: Write, tenantId: string): Promise<SyncCounts> {
  const counts = await syncAssetRows(write.trx, tenantId, write.now);
  write.log({ tenant_id: tenantId, action: "sync", resource: "assets", resource_id: null, after: counts });
  return counts;
}
