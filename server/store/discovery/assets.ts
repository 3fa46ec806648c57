import { type Insertable, type Selectable, sql, type Updateable } from "kysely";
import type { Database, Trx } from "../database.ts";
import { containing, pageOfRows } from "../records/paging.ts";
import { findInTenant, type RecordStore, writesById } from "../records/record-store.ts";
import type { AssetTable } from "../tables/assets.ts";

export type AssetRow = Selectable<AssetTable>;
export type AssetInsert = Insertable<AssetTable> & { id: string };
export type AssetPatch = Updateable<AssetTable>;

interface AssetFilters {
  readonly search?: string | undefined;
  readonly asset_type?: string | undefined;
  readonly governance_status?: string | undefined;
  readonly status?: string | undefined;
}

export const assetStore: RecordStore<AssetRow, AssetInsert, AssetPatch, AssetFilters> = {
  async page(db, tenantId, { search, ...exact }, page) {
    let query = db.selectFrom("assets").where("tenant_id", "=", tenantId);
    for (const name of ["asset_type", "governance_status", "status"] as const) {
      const value = exact[name];
      if (value !== undefined) query = query.where(name, "=", value);
    }
    if (search !== undefined) query = query.where("name", "ilike", containing(search));
    return pageOfRows(query, query.selectAll().orderBy("name").orderBy("id"), page);
  },
  find: findInTenant("assets"),
  ...writesById("assets"),
};

export interface SyncCounts {
  readonly added: number;
  readonly changed: number;
  readonly gone: number;
  readonly total: number;
}

/** All of the tenant's governed records and discovered assets. */
const KNOWN = (tenantId: string) => sql`
  SELECT 'model' AS asset_type, 'models' AS source_kind, id::text AS source_id, name, base_url AS endpoint, 'governed' AS governance_status, 'active' AS status
    FROM models WHERE tenant_id = ${tenantId}
  UNION ALL SELECT 'mcp_server', 'mcp_servers', id, name, base_url || mcp_endpoint_path, 'governed', 'active' FROM mcp_servers WHERE tenant_id = ${tenantId}
  UNION ALL SELECT 'virtual_mcp_server', 'virtual_servers', id, name, NULL, 'governed', 'active' FROM virtual_servers WHERE tenant_id = ${tenantId}
  UNION ALL SELECT 'agent', 'agents', id, name, coalesce(base_url, card_url), 'governed', 'active' FROM agents WHERE tenant_id = ${tenantId}
  UNION ALL SELECT 'skill', 'agent_skills', id, name, NULL, 'governed', 'active' FROM agent_skills WHERE tenant_id = ${tenantId}
  UNION ALL SELECT 'knowledge_base', 'knowledge_bases', id::text, name, NULL, 'governed', 'active' FROM knowledge_bases WHERE tenant_id = ${tenantId}
  UNION ALL SELECT 'ai_system', 'ai_systems', s.id::text, g.name, NULL, 'governed', CASE WHEN s.lifecycle_state = 'retired' THEN 'gone' ELSE 'active' END
    FROM ai_systems s JOIN resource_groups g ON g.id = s.id WHERE s.tenant_id = ${tenantId}
  UNION ALL SELECT asset_type, 'discovered_assets', id::text, name, endpoints[1], governance_status, status FROM discovered_assets WHERE tenant_id = ${tenantId}
  UNION ALL SELECT 'model', 'usage_import', u.provider_id || '/' || u.vendor_id, left(u.vendor_id, 200), NULL, 'ungoverned', 'active'
    FROM usage_import_mappings u JOIN usage_import_settings s USING (provider_id)
   WHERE u.tenant_id = ${tenantId} AND u.kind = 'model' AND u.target IS NULL AND NOT u.ignored AND s.import_mapping_mode = 'auto_create'`;

export async function syncAssetRows(trx: Trx, tenantId: string, at: Date): Promise<SyncCounts> {
  const { rows } = await sql<{ added: number; changed: number }>`
    WITH written AS (
      INSERT INTO assets AS a (id, tenant_id, asset_type, name, endpoint, governance_status, status, source_kind, source_id, synced_at, created_at, updated_at)
      SELECT gen_random_uuid(), ${tenantId}, k.asset_type, k.name, left(k.endpoint, 500), k.governance_status, k.status, k.source_kind, k.source_id, ${at}, ${at}, ${at}
        FROM (${KNOWN(tenantId)}) k
      ON CONFLICT (tenant_id, source_kind, source_id) DO UPDATE
        SET asset_type = EXCLUDED.asset_type, name = EXCLUDED.name, endpoint = EXCLUDED.endpoint, governance_status = EXCLUDED.governance_status,
            status = EXCLUDED.status, synced_at = EXCLUDED.synced_at, updated_at = EXCLUDED.updated_at
        WHERE (a.asset_type, a.name, a.endpoint, a.governance_status, a.status)
              IS DISTINCT FROM (EXCLUDED.asset_type, EXCLUDED.name, EXCLUDED.endpoint, EXCLUDED.governance_status, EXCLUDED.status)
      RETURNING (xmax = 0) AS added)
    SELECT count(*) FILTER (WHERE added) AS added, count(*) FILTER (WHERE NOT added) AS changed FROM written`.execute(trx);
  const { numAffectedRows: gone } = await sql`
    UPDATE assets a SET status = 'gone', synced_at = ${at}, updated_at = ${at}
     WHERE a.tenant_id = ${tenantId} AND a.source_id IS NOT NULL AND a.status = 'active'
       AND NOT EXISTS (SELECT FROM (${KNOWN(tenantId)}) k WHERE k.source_kind = a.source_kind AND k.source_id = a.source_id)`.execute(trx);
  const { rows: all } = await sql<{ total: number }>`SELECT count(*) AS total FROM assets WHERE tenant_id = ${tenantId}`.execute(trx);
  return {
    added: Number(rows[0]?.added ?? 0),
    changed: Number(rows[0]?.changed ?? 0),
    gone: Number(gone ?? 0n),
    total: Number(all[0]?.total ?? 0),
  };
}

const PIECE = 1_000;

/** All assets of a tenant in batches, ordered by ID. */
export async function* eachAsset(db: Database, tenantId: string): AsyncGenerator<AssetRow[]> {
  let after: string | null = null;
  for (;;) {
    let query = db.selectFrom("assets").selectAll().where("tenant_id", "=", tenantId);
    if (after !== null) query = query.where("id", ">", after);
    const rows: AssetRow[] = await query.orderBy("id").limit(PIECE).execute();
    if (rows.length > 0) yield rows;
    if (rows.length < PIECE) return;
    after = rows.at(-1)?.id ?? null;
  }
}
