import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import type { PortalToolServer } from "../api/portal-records.ts";
import { portalApi } from "../portal-client.ts";
import { namedTools, toolsOfServer } from "../tools/offered-tools.ts";
import type { ToolsOf } from "./use-conversation.ts";

const OPEN_SERVERS = {
  queryKey: ["servers", "enabled"],
  queryFn: () => portalApi.call("GET /v1/portal/servers", { query: { enabled_only: "true" } }),
};

export const serverTools = (server: PortalToolServer) => ({
  queryKey: ["tools", server.mcp_server.id],
  queryFn: () => toolsOfServer(server),
  staleTime: 60_000,
  retry: false,
});

/** Several configurations may grant the same server; a conversation lists it once. */
function once(servers: readonly PortalToolServer[]): readonly PortalToolServer[] {
  return servers.filter((server, at) => servers.findIndex(({ mcp_server: { id } }) => id === server.mcp_server.id) === at);
}

/** The tool servers the person may use, and the tools of those a conversation uses. */
export function useToolServers(): { readonly servers: readonly PortalToolServer[]; readonly toolsOf: ToolsOf } {
  const cache = useQueryClient();
  const open = useQuery(OPEN_SERVERS);
  const toolsOf = useCallback<ToolsOf>(
    async (serverIds) => {
      if (serverIds.length === 0) return [];
      const { servers } = await cache.ensureQueryData(OPEN_SERVERS);
      const chosen = once(servers).filter(({ mcp_server: { id } }) => serverIds.includes(id));
      return namedTools((await Promise.all(chosen.map((server) => cache.fetchQuery(serverTools(server))))).flat());
    },
    [cache],
  );
  return { servers: once(open.data?.servers ?? []), toolsOf };
}
