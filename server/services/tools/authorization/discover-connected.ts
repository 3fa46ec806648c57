import type { DiscoveredServer } from "../../../directory/tools/mcp-servers.ts";
import { probedMcpServer } from "../../../directory/tools/mcp-servers.ts";
import type { Directory } from "../../../directory/writes/write.ts";
import type { ToolServerDiscovery } from "../definitions/discovery.ts";
import type { ConnectedDiscovery } from "./authorization-parts.ts";

const MAX_WAIT_MS = 5_000;

/** `keep` stores what was discovered. */
export function connectedDiscovery(
  directory: Pick<Directory, "db" | "secrets">,
  discovery: ToolServerDiscovery,
  keep: (tenantId: string, serverId: string, url: string, found: DiscoveredServer) => Promise<unknown>,
  failed: (tenantId: string, serverId: string, error: Error) => void,
): ConnectedDiscovery {
  const learnTools = async (tenantId: string, serverId: string, token: string) => {
    const server = await probedMcpServer(directory, tenantId, serverId);
    if (server.dialect !== null) return;
    const discovered = await discovery.discover({ ...server, authType: "bearer", credential: token });
    if (discovered.status === "found") await keep(tenantId, serverId, server.url, discovered.found);
  };
  return {
    async learn(tenantId, serverId, token) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const tooLong = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, MAX_WAIT_MS);
      });
      await Promise.race([learnTools(tenantId, serverId, token).catch((error: Error) => failed(tenantId, serverId, error)), tooLong]);
      clearTimeout(timer);
    },
  };
}
