import { sql } from "kysely";
import type { Database, Trx } from "../database.ts";

/** The records of a tenant that a discovered asset may correspond to or be routed through. */
export interface GovernedRecords {
  readonly toolServers: readonly { id: string; base_url: string; mcp_endpoint_path: string }[];
  readonly virtualServers: readonly string[];
  readonly agents: readonly { id: string; base_url: string | null; card_url: string | null; endpoint_url: string | null }[];
  readonly models: readonly { id: string; name: string; model_name: string }[];
  readonly gatewayOrigins: readonly string[];
}

export async function readGovernedRecords(db: Database | Trx, tenantId: string): Promise<GovernedRecords> {
  const of = <T>(query: ReturnType<typeof sql<T>>) => query.execute(db).then(({ rows }) => rows);
  return {
    toolServers: await of(
      sql<GovernedRecords["toolServers"][number]>`SELECT id, base_url, mcp_endpoint_path FROM mcp_servers WHERE tenant_id = ${tenantId}`,
    ),
    virtualServers: (await of(sql<{ id: string }>`SELECT id FROM virtual_servers WHERE tenant_id = ${tenantId}`)).map(({ id }) => id),
    agents: await of(
      sql<GovernedRecords["agents"][number]>`SELECT id, base_url, card_url, endpoint_url FROM agents WHERE tenant_id = ${tenantId}`,
    ),
    models: await of(sql<GovernedRecords["models"][number]>`SELECT id, name, model_name FROM models WHERE tenant_id = ${tenantId}`),
    gatewayOrigins: await readGatewayOrigins(db, tenantId),
  };
}

export async function readGatewayOrigins(db: Database | Trx, tenantId: string): Promise<string[]> {
  const row = await db.selectFrom("discovery_settings").select("gateway_origins").where("tenant_id", "=", tenantId).executeTakeFirst();
  return row?.gateway_origins ?? [];
}

export async function writeGatewayOrigins(trx: Trx, tenantId: string, origins: readonly string[], at: Date): Promise<void> {
  await trx
    .insertInto("discovery_settings")
    .values({ tenant_id: tenantId, gateway_origins: [...origins], updated_at: at })
    .onConflict((conflict) => conflict.column("tenant_id").doUpdateSet({ gateway_origins: [...origins], updated_at: at }))
    .execute();
}
