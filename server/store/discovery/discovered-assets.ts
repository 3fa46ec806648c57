import { type Selectable, sql } from "kysely";
import type { Database, Trx } from "../database.ts";
import { containing, type Page, type Paged, totalOf } from "../records/paging.ts";
import type { DiscoveredAssetTable } from "../tables/discovery.ts";

export type DiscoveredAssetRow = Selectable<DiscoveredAssetTable> & { readonly device_name: string | null };

export interface DiscoveredAssetFilters {
  readonly asset_type?: string | undefined;
  readonly governance_status?: string | undefined;
  readonly status?: string | undefined;
  readonly device_id?: string | undefined;
  readonly q?: string | undefined;
}

/** An asset as any source reports it. */
export interface SeenAsset {
  readonly id: string;
  readonly identity: string;
  readonly asset_type: string;
  readonly device_id: string | null;
  readonly name: string;
  readonly version: string | null;
  readonly location_hash: string | null;
  readonly config_digest: string | null;
  readonly endpoints: readonly string[];
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly seen_at: Date;
}

const withDevice = (db: Database | Trx, tenantId: string) =>
  db
    .selectFrom("discovered_assets as a")
    .leftJoin("discovery_devices as d", (join) => join.onRef("d.tenant_id", "=", "a.tenant_id").onRef("d.device_id", "=", "a.device_id"))
    .selectAll("a")
    .select("d.device_name")
    .where("a.tenant_id", "=", tenantId);

export async function discoveredAssetPage(
  db: Database,
  tenantId: string,
  filters: DiscoveredAssetFilters,
  page: Page,
): Promise<Paged<DiscoveredAssetRow>> {
  const { q, ...exact } = filters;
  let all = db.selectFrom("discovered_assets as a").where("a.tenant_id", "=", tenantId);
  for (const name of ["asset_type", "governance_status", "status", "device_id"] as const) {
    const value = exact[name];
    if (value !== undefined) all = all.where(`a.${name}`, "=", value);
  }
  if (q !== undefined) all = all.where("a.name", "ilike", containing(q));
  // The page's IDs come from the index alone, so that skipped rows are neither read nor joined.
  const ids = all.select("a.id").orderBy("a.last_seen", "desc").orderBy("a.id").limit(page.limit).offset(page.offset);
  const found = await withDevice(db, tenantId).where("a.id", "in", ids).orderBy("a.last_seen", "desc").orderBy("a.id").execute();
  const total = await totalOf(all);
  return { items: found, total };
}

export async function findDiscoveredAsset(
  db: Database | Trx,
  tenantId: string,
  id: string,
  lock?: "lock",
): Promise<DiscoveredAssetRow | undefined> {
  if (lock !== undefined)
    await db.selectFrom("discovered_assets").select("id").where("tenant_id", "=", tenantId).where("id", "=", id).forUpdate().execute();
  return withDevice(db, tenantId).where("a.id", "=", id).executeTakeFirst();
}

export interface CoverageCount {
  readonly asset_type: string;
  readonly status: string;
  readonly governance_status: string;
  readonly count: number;
}

export async function countCoverage(db: Database | Trx, tenantId: string): Promise<{ counts: CoverageCount[]; devices: number }> {
  const { rows } = await sql<CoverageCount>`
    SELECT asset_type, status, governance_status, count(*) AS count FROM discovered_assets
     WHERE tenant_id = ${tenantId} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`.execute(db);
  const { rows: devices } = await sql<{ count: number }>`
    SELECT count(*) AS count FROM discovery_devices WHERE tenant_id = ${tenantId}`.execute(db);
  return { counts: rows, devices: Number(devices[0]?.count ?? 0) };
}

/**
 * Upserts reported assets, keeping newer data, and returns the identities that are new. A dismissal ends when the configuration changes
 * from the one it was made for. A device manager reports only what is installed, not its configuration.
 */
export async function putSeenAssets(trx: Trx, tenantId: string, source: string, assets: readonly SeenAsset[]): Promise<string[]> {
  if (assets.length === 0) return [];
  const describesSetup = sql`EXCLUDED.source <> 'mdm_csv'`;
  const { rows } = await sql<{ identity: string; added: boolean }>`
    INSERT INTO discovered_assets AS a (id, tenant_id, identity, source, asset_type, device_id, name, version, location_hash, config_digest,
                                        endpoints, attributes, governance_status, governance_reason, first_seen, last_seen)
    SELECT s.id, ${tenantId}, s.identity, ${source}, s.asset_type, s.device_id, s.name, s.version, s.location_hash, s.config_digest,
           ARRAY(SELECT jsonb_array_elements_text(s.endpoints)), s.attributes, 'ungoverned', '', s.seen_at, s.seen_at
      FROM jsonb_to_recordset(${JSON.stringify(assets)}::jsonb) AS s (id uuid, identity text, asset_type text, device_id text, name text,
           version text, location_hash text, config_digest text, endpoints jsonb, attributes jsonb, seen_at timestamptz)
     ORDER BY s.identity
    ON CONFLICT (tenant_id, identity) DO UPDATE
      SET source = EXCLUDED.source, name = EXCLUDED.name, version = CASE WHEN ${describesSetup} THEN EXCLUDED.version ELSE coalesce(EXCLUDED.version, a.version) END, status = 'active', last_seen = EXCLUDED.last_seen,
          config_digest = CASE WHEN ${describesSetup} THEN EXCLUDED.config_digest ELSE a.config_digest END,
          endpoints = CASE WHEN ${describesSetup} THEN EXCLUDED.endpoints ELSE a.endpoints END,
          attributes = CASE WHEN ${describesSetup} THEN EXCLUDED.attributes ELSE a.attributes || EXCLUDED.attributes END,
          dismissed_reason = CASE WHEN ${describesSetup} AND a.dismissed_digest IS DISTINCT FROM EXCLUDED.config_digest THEN NULL
                                  ELSE a.dismissed_reason END
      WHERE a.last_seen <= EXCLUDED.last_seen
    RETURNING identity, (xmax = 0) AS added`.execute(trx);
  return rows.filter(({ added }) => added).map(({ identity }) => identity);
}

export async function endAssets(trx: Trx, tenantId: string, gone: readonly { identity: string; seen_at: Date }[]): Promise<void> {
  if (gone.length === 0) return;
  await sql`
    UPDATE discovered_assets a SET status = 'gone', last_seen = g.seen_at
      FROM jsonb_to_recordset(${JSON.stringify(gone)}::jsonb) AS g (identity text, seen_at timestamptz)
     WHERE a.tenant_id = ${tenantId} AND a.identity = g.identity AND a.last_seen <= g.seen_at`.execute(trx);
}

export async function countAssetsOfDevices(trx: Trx, tenantId: string, deviceIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ device_id: string; count: number }>`
    SELECT device_id, count(*) AS count FROM discovered_assets
     WHERE tenant_id = ${tenantId} AND device_id = ANY (${deviceIds as string[]}) GROUP BY 1`.execute(trx);
  return new Map(rows.map(({ device_id: id, count }) => [id, Number(count)]));
}

export async function countAssets(trx: Trx, tenantId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT count(*) AS count FROM discovered_assets WHERE tenant_id = ${tenantId}`.execute(trx);
  return Number(rows[0]?.count ?? 0);
}

export async function knownIdentities(trx: Trx, tenantId: string, identities: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ identity: string }>`
    SELECT identity FROM discovered_assets WHERE tenant_id = ${tenantId} AND identity = ANY (${identities as string[]})`.execute(trx);
  return new Set(rows.map(({ identity }) => identity));
}

export async function setAssetDecision(
  trx: Trx,
  id: string,
  decision: { onboarded_at: Date } | { dismissed_reason: string | null; dismissed_digest: string | null },
): Promise<void> {
  await trx.updateTable("discovered_assets").set(decision).where("id", "=", id).execute();
}
