import { ownAddress } from "../../directory/discovery/own-address.ts";
import { recordDiscovery } from "../../directory/tools/mcp-servers.ts";
import { type Actor, write } from "../../directory/writes/write.ts";
import { diffTools } from "../../wire/mcp/tool-diff.ts";
import { authorizationCache } from "./authorization/authorization-cache.ts";
import type { AuthorizationParts } from "./authorization/authorization-parts.ts";
import { connectedDiscovery } from "./authorization/discover-connected.ts";
import { toolServerDiscovery } from "./definitions/discovery.ts";
import type { ToolServiceOptions } from "./tool-service-options.ts";

/** The actor for the gateway's own changes in the admin log. */
const GATEWAY: Actor = { id: null, username: null, role: null, clientIp: null, requestId: null };

/** Builds the dependencies of upstream authorization from the service's options. */
export function toolAuthorization({
  directory,
  send,
  log,
  publicUrl,
  gatewayOrigins,
  allowPrivate,
  statelessProbe,
  caughtUp,
  ...admission
}: ToolServiceOptions): AuthorizationParts {
  const discovery = connectedDiscovery(
    directory,
    toolServerDiscovery(send, statelessProbe, allowPrivate),
    async (tenantId, serverId, url, found) => {
      await write(directory, GATEWAY, (change) => recordDiscovery(change, tenantId, serverId, url, found, diffTools));
      await caughtUp();
    },
    (tenantId, serverId, error) => log.warn("connected_discovery_failed", { tenant_id: tenantId, server_id: serverId, error }),
  );
  const { credentials, users, tokens, workloads, snapshots, secrets, clock } = admission;
  const memory = authorizationCache();
  return {
    db: directory.db,
    secrets,
    clock,
    send,
    credentials,
    users,
    tokens,
    workloads,
    snapshots,
    publicUrl,
    isOwnAddress: ownAddress(publicUrl, gatewayOrigins),
    allowPrivate,
    memory,
    discovery,
  };
}
