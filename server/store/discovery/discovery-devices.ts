import { sql } from "kysely";
import type { Database, Trx } from "../database.ts";
import { containing, type Page, type Paged } from "../records/paging.ts";

export interface DeviceRow {
  readonly device_id: string;
  readonly device_name: string | null;
  readonly client_count: number;
  readonly mcp_server_count: number;
  readonly ungoverned_count: number;
  readonly last_seen: Date;
}

/** Most recently seen first, each with the number of its active assets. */
export async function devicePage(db: Database, tenantId: string, q: string | undefined, page: Page): Promise<Paged<DeviceRow>> {
  const pattern = q === undefined ? "%" : containing(q);
  const named = sql`d.tenant_id = ${tenantId} AND (d.device_id ILIKE ${pattern} OR d.device_name ILIKE ${pattern})`;
  const { rows } = await sql<DeviceRow>`
    SELECT d.device_id, d.device_name, d.last_seen,
           count(a.id) FILTER (WHERE a.asset_type = 'local_ai_client') AS client_count,
           count(a.id) FILTER (WHERE a.asset_type = 'local_mcp_server') AS mcp_server_count,
           count(a.id) FILTER (WHERE a.governance_status IN ('ungoverned', 'partially_governed')) AS ungoverned_count
      FROM (SELECT * FROM discovery_devices d WHERE ${named}
             ORDER BY d.last_seen DESC, d.device_id LIMIT ${page.limit} OFFSET ${page.offset}) d
      LEFT JOIN discovered_assets a ON a.tenant_id = d.tenant_id AND a.device_id = d.device_id AND a.status = 'active'
     GROUP BY d.device_id, d.device_name, d.last_seen ORDER BY d.last_seen DESC, d.device_id`.execute(db);
  const { rows: all } = await sql<{ total: number }>`SELECT count(*) AS total FROM discovery_devices d WHERE ${named}`.execute(db);
  const items = rows.map((row) => ({
    ...row,
    client_count: Number(row.client_count),
    mcp_server_count: Number(row.mcp_server_count),
    ungoverned_count: Number(row.ungoverned_count),
  }));
  return { items, total: Number(all[0]?.total ?? 0) };
}

/** The collectors that own these devices, locked. Devices known only from an inventory have no owner yet. */
export async function ownersOfDevices(trx: Trx, tenantId: string, deviceIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (deviceIds.length === 0) return new Map();
  const rows = await trx
    .selectFrom("discovery_devices")
    .select(["device_id", "collector_id"])
    .where("tenant_id", "=", tenantId)
    .where("device_id", "in", [...deviceIds])
    .where("collector_id", "<>", "")
    .orderBy("device_id")
    .forUpdate()
    .execute();
  return new Map(rows.map(({ device_id: id, collector_id: collector }) => [id, collector]));
}

export async function countDevices(trx: Trx, tenantId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT count(*) AS count FROM discovery_devices WHERE tenant_id = ${tenantId}`.execute(trx);
  return Number(rows[0]?.count ?? 0);
}
