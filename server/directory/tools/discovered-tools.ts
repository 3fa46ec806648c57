import { lastDiscoveredResources, lastDiscoveredTools } from "../../store/tools/mcp-servers.ts";
import type { Directory } from "../writes/write.ts";

/** A server's tool definitions as of its last conclusive discovery; empty before the first. */
export async function discoveredTools({ db }: Pick<Directory, "db">, tenantId: string, serverId: string): Promise<readonly unknown[]> {
  return (await lastDiscoveredTools(db, tenantId, serverId)) ?? [];
}

/** A server's resources as of that discovery. */
export async function discoveredResources({ db }: Pick<Directory, "db">, tenantId: string, serverId: string): Promise<readonly unknown[]> {
  return (await lastDiscoveredResources(db, tenantId, serverId)) ?? [];
}
