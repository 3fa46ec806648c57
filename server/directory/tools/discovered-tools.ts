import { lastDiscoveredResources, lastDiscoveredTools } from "../../store/tools/mcp-servers.ts";
import type { Directory } from "../writes/write.ts";

/** Definitions of a server's tools as its last conclusive discovery found them; none before there was one. */
export async function discoveredTools({ db }: Pick<Directory, "db">, tenantId: string, serverId: string): Promise<readonly unknown[]> {
  return (await lastDiscoveredTools(db, tenantId, serverId)) ?? [];
}

/** Its resources as they were listed. */
export async function discoveredResources({ db }: Pick<Directory, "db">, tenantId: string, serverId: string): Promise<readonly unknown[]> {
  return (await lastDiscoveredResources(db, tenantId, serverId)) ?? [];
}
