import type { Asset, GovernanceStatus, RegistryType } from "@gatehouse/contracts/discovery";
import type { AssetRow } from "../../store/discovery/assets.ts";

export function readAsset(row: AssetRow): Asset {
  return {
    id: row.id,
    tenant_id: row.tenant_id,
    name: row.name,
    asset_type: row.asset_type as RegistryType,
    description: row.description,
    owner: row.owner,
    criticality: row.criticality as Asset["criticality"],
    tags: row.tags,
    endpoint: row.endpoint,
    governance_status: row.governance_status as GovernanceStatus,
    status: row.status as Asset["status"],
    source: row.source_kind === null || row.source_id === null ? null : { kind: row.source_kind, id: row.source_id },
    synced_at: row.synced_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
