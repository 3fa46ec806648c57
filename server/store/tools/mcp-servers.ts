import { sql, type Insertable, type Selectable, type Updateable } from "kysely";
import type { Database, Trx } from "../database.ts";
import { lockName } from "../connections/named-lock.ts";
import { containing, pageOfRows } from "../records/paging.ts";
import { findInTenant, type RecordStore, writesById } from "../records/record-store.ts";
import type { McpServerTable } from "../tables/tools.ts";

export type McpServerRow = Selectable<McpServerTable>;
export type McpServerInsert = Insertable<McpServerTable>;
export type McpServerPatch = Updateable<McpServerTable>;

export interface McpServerFilters {
  readonly search?: string | undefined;
  readonly enabled_only?: string | undefined;
}

export const mcpServerStore: RecordStore<McpServerRow, McpServerInsert, McpServerPatch, McpServerFilters> = {
  async page(db, tenantId, filters, page) {
    let query = db.selectFrom("mcp_servers").where("tenant_id", "=", tenantId);
    if (filters.enabled_only === "true") query = query.where("enabled", "=", true);
    if (filters.search !== undefined) query = query.where("name", "ilike", containing(filters.search));
    return pageOfRows(query, query.selectAll().orderBy("name").orderBy("id"), page);
  },
  find: findInTenant("mcp_servers"),
  ...writesById("mcp_servers"),
};

/** `baseUrl` is given without a trailing slash, which makes no difference. Serialises registrations in the tenant. */
export async function mcpServerAt(trx: Trx, tenantId: string, baseUrl: string, path: string): Promise<string | undefined> {
  await lockName(trx, `mcp_servers/${tenantId}`);
  const row = await trx
    .selectFrom("mcp_servers")
    .select("id")
    .where("tenant_id", "=", tenantId)
    .where(sql<boolean>`rtrim(base_url, '/') = ${baseUrl}`)
    .where("mcp_endpoint_path", "=", path)
    .executeTakeFirst();
  return row?.id;
}

/** An enabled server that uses per-user authorization. Not scoped by tenant: browsers and clients come without a key. */
export async function oauthServerById(
  db: Database,
  id: string,
): Promise<Pick<McpServerRow, "id" | "tenant_id" | "name" | "base_url" | "mcp_endpoint_path"> | undefined> {
  return db
    .selectFrom("mcp_servers as s")
    .innerJoin("tenants as t", "t.id", "s.tenant_id")
    .select(["s.id", "s.tenant_id", "s.name", "s.base_url", "s.mcp_endpoint_path"])
    .where("s.id", "=", id)
    .where("s.auth_type", "=", "oauth")
    .where("s.enabled", "=", true)
    .where("t.enabled", "=", true)
    .executeTakeFirst();
}

/** Names by ID, for those that are servers of the tenant. */
export async function knownMcpServers(
  db: Database | Trx,
  tenantId: string,
  ids: readonly string[],
  lock?: "lock",
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const query = db.selectFrom("mcp_servers").select(["id", "name"]).where("tenant_id", "=", tenantId).where("id", "in", ids).orderBy("id");
  const rows = await (lock === undefined ? query : query.forKeyShare()).execute();
  return new Map(rows.map((row) => [row.id, row.name]));
}

/** The server's configurations with the tools each names. */
export async function toolsOfConfigs(db: Database | Trx, serverId: string): Promise<{ name: string; tools: ReadonlySet<string> }[]> {
  const rows = await db
    .selectFrom("server_configs")
    .select(["name", "enabled_tools", "approval_required_tools"])
    .where("mcp_server_id", "=", serverId)
    .orderBy("name")
    .execute();
  return rows.map((row) => ({ name: row.name, tools: new Set([...(row.enabled_tools ?? []), ...row.approval_required_tools]) }));
}

/** Names of the server's configurations, at most `limit`. */
export async function configsOfServer(db: Database | Trx, tenantId: string, serverId: string, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom("server_configs")
    .select("name")
    .where("tenant_id", "=", tenantId)
    .where("mcp_server_id", "=", serverId)
    .orderBy("name")
    .limit(limit)
    .execute();
  return rows.map((row) => row.name);
}

/** Names of virtual servers the server is a member of, at most `limit`. */
export async function virtualServersWith(db: Database | Trx, tenantId: string, serverId: string, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom("virtual_servers")
    .select("name")
    .where("tenant_id", "=", tenantId)
    .where("members", "@>", JSON.stringify([{ mcp_server_id: serverId }]) as never)
    .orderBy("name")
    .limit(limit)
    .execute();
  return rows.map((row) => row.name);
}

/** Tool definitions found by the last conclusive discovery. */
export async function lastDiscoveredTools(db: Database, tenantId: string, serverId: string): Promise<unknown[] | undefined> {
  const row = await db
    .selectFrom("mcp_server_snapshots")
    .select("tools")
    .where("tenant_id", "=", tenantId)
    .where("mcp_server_id", "=", serverId)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.tools;
}

/** Resources found by the last conclusive discovery. */
export async function lastDiscoveredResources(db: Database, tenantId: string, serverId: string): Promise<unknown[] | undefined> {
  const row = await db
    .selectFrom("mcp_server_snapshots")
    .select("resources")
    .where("tenant_id", "=", tenantId)
    .where("mcp_server_id", "=", serverId)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.resources;
}
