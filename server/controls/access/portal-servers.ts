import type { GroupScope } from "../../directory/snapshot.ts";

/** A server configuration as the portal lists it (interface 2.4). */
export interface PortalServer {
  readonly id: string;
  readonly name: string;
  readonly display_name: string | null;
  readonly description: string | null;
  readonly display_description: string | null;
  readonly enabled: boolean;
  readonly priority: number;
  readonly icon_url: string | null;
  readonly is_default: boolean;
  readonly mcp_server: {
    readonly id: string;
    readonly name: string;
    readonly enabled: boolean;
    readonly auth_type: string;
    readonly timeout_seconds: number;
    readonly capabilities: unknown;
  };
  /** Null: each user brings their own OAuth client. */
  readonly oauth_client: { readonly client_id: string; readonly scopes: readonly string[] } | null;
  readonly created_at: string;
  readonly updated_at: string;
}

/** The configurations through which the group's callers may use tool servers, highest priority first. */
export function portalServers(scope: GroupScope, inherited: boolean): PortalServer[] {
  const ids = inherited ? scope.configIds : scope.configIds.filter((id) => scope.ownConfigIds.has(id));
  const found = ids.flatMap((id): PortalServer[] => {
    const config = scope.tenant.serverConfigs.get(id);
    const server = config === undefined ? undefined : scope.tenant.toolServers.get(config.mcp_server_id);
    if (config === undefined || server === undefined) return [];
    return [
      {
        id: config.id,
        name: config.name,
        display_name: config.display_name,
        description: config.description,
        display_description: config.display_description,
        enabled: config.enabled && server.enabled,
        priority: config.priority,
        icon_url: server.iconUrl,
        is_default: config.is_default,
        mcp_server: {
          id: server.id,
          name: server.name,
          enabled: server.enabled,
          auth_type: server.authType,
          timeout_seconds: server.timeoutMs / 1000,
          capabilities: server.capabilities,
        },
        oauth_client: null,
        created_at: config.created_at.toISOString(),
        updated_at: config.updated_at.toISOString(),
      },
    ];
  });
  return found.sort((a, b) => b.priority - a.priority || (a.name < b.name ? -1 : 1));
}
