import type { Insertable, Selectable } from "kysely";
import type { Database, Trx } from "../database.ts";
import { type Page, type Paged, pageOfRows } from "../records/paging.ts";
import type { McpServerSnapshotTable } from "../tables/tools.ts";

export type McpSnapshotRow = Selectable<McpServerSnapshotTable>;

/** The newest snapshot, and the one `accepted` names or else the first; undefined if nothing was discovered yet. */
export async function comparedMcpSnapshots(
  db: Database | Trx,
  tenantId: string,
  serverId: string,
  accepted: string | null,
): Promise<{ before: McpSnapshotRow; current: McpSnapshotRow } | undefined> {
  const query = db
    .selectFrom("mcp_server_snapshots")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where("mcp_server_id", "=", serverId)
    .limit(1);
  const current = await query.orderBy("id", "desc").executeTakeFirst();
  if (current === undefined) return undefined;
  const named = accepted === null ? undefined : await query.where("id", "=", accepted).executeTakeFirst();
  const before = named ?? (await query.orderBy("id", "asc").executeTakeFirst()) ?? current;
  return { before, current };
}

export async function insertMcpSnapshot(trx: Trx, values: Insertable<McpServerSnapshotTable>): Promise<void> {
  await trx.insertInto("mcp_server_snapshots").values(values).execute();
}

/** Newest first. */
export async function mcpSnapshots(db: Database, tenantId: string, serverId: string, page: Page): Promise<Paged<McpSnapshotRow>> {
  const query = db.selectFrom("mcp_server_snapshots").where("tenant_id", "=", tenantId).where("mcp_server_id", "=", serverId);
  return pageOfRows(query, query.selectAll().orderBy("id", "desc"), page);
}
