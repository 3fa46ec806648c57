import type { TenantPolicyRows } from "../../store/records/policy-reads.ts";
import type { IndexedTool } from "../../store/tables/tools.ts";

/** A tool server as compiled for calls. */
export interface ToolServerEntry {
  readonly id: string;
  readonly name: string;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  /** The MCP endpoint: base URL and endpoint path. */
  readonly url: string;
  readonly authType: "none" | "bearer" | "oauth";
  /** Decrypted; held only in memory. */
  readonly credential: string | null;
  readonly timeoutMs: number;
  readonly enabled: boolean;
  readonly iconUrl: string | null;
  /** Null until a discovery is conclusive. */
  readonly dialect: "handshake" | "stateless" | null;
  readonly protocolVersion: string | null;
  readonly serverName: string | null;
  readonly serverVersion: string | null;
  /** What else the server tells clients about itself: title, description, website and icons. */
  readonly serverInfo: Readonly<Record<string, unknown>> | null;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly instructions: string | null;
  /** How a stateless server presents itself to handshake-dialect clients, if it has sessions for them itself. */
  readonly handshake: Pick<ToolServerEntry, "protocolVersion" | "capabilities" | "instructions"> | null;
  /** As of the last discovery. */
  readonly tools: ReadonlyMap<string, IndexedTool>;
}

export interface VirtualServerEntry {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly enabled: boolean;
  readonly members: readonly { readonly serverId: string; readonly slug: string }[];
  readonly groupIds: readonly string[];
}

export type McpServerPolicyRow = TenantPolicyRows["mcp_servers"][number];

/** The server as presented to callers of a dialect. One with sessions of its own needs no translation. */
export function servedIn(dialect: "handshake" | "stateless", server: ToolServerEntry): ToolServerEntry {
  return dialect === "handshake" && server.handshake !== null ? { ...server, ...server.handshake, dialect } : server;
}

export function endpointUrl(baseUrl: string, path: string): string {
  return `${baseUrl.replace(/\/+$/, "")}${path === "" || path.startsWith("/") ? path : `/${path}`}`;
}

export function toolServerEntry(row: McpServerPolicyRow, credential: string | null): ToolServerEntry {
  return {
    id: row.id,
    name: row.name,
    baseUrl: row.base_url.replace(/\/+$/, ""),
    url: endpointUrl(row.base_url, row.mcp_endpoint_path),
    authType: row.auth_type as ToolServerEntry["authType"],
    credential,
    timeoutMs: row.timeout * 1000,
    enabled: row.enabled,
    iconUrl: row.icon_url,
    dialect: row.dialect as ToolServerEntry["dialect"],
    protocolVersion: row.protocol_version,
    serverName: row.server_name,
    serverVersion: row.server_version,
    serverInfo: row.server_info,
    capabilities: row.capabilities,
    instructions: row.instructions,
    handshake: row.handshake,
    tools: new Map(row.tool_index.map((tool) => [tool.name, tool])),
  };
}

export function compileToolServers(
  rows: readonly McpServerPolicyRow[],
  open: (row: McpServerPolicyRow) => string | null,
): Map<string, ToolServerEntry> {
  return new Map(rows.map((row) => [row.id, toolServerEntry(row, open(row))]));
}

export function compileVirtualServers(rows: TenantPolicyRows["virtual_servers"]): Map<string, VirtualServerEntry> {
  return new Map(
    rows.map((row) => [
      row.id,
      {
        id: row.id,
        name: row.name,
        description: row.description,
        enabled: row.enabled,
        members: row.members.map(({ mcp_server_id: serverId, slug }) => ({ serverId, slug })),
        groupIds: row.group_ids,
      },
    ]),
  );
}
