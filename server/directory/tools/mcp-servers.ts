import type {
  McpServer,
  McpServerCreate,
  McpServerQuery,
  McpServerUpdate,
  McpSnapshot,
  ToolDiffRead,
} from "@gatehouse/contracts/mcp-servers";
import { invalidFields, refuse, Refused } from "../../kernel/errors.ts";
import { ulid } from "../../kernel/ids.ts";
import { sealContext } from "../../kernel/secrets.ts";
import {
  configsOfServer,
  mcpServerAt,
  mcpServerStore,
  toolsOfConfigs,
  virtualServersWith,
  type McpServerInsert,
  type McpServerPatch,
  type McpServerRow,
} from "../../store/tools/mcp-servers.ts";
import { insertMcpSnapshot, mcpSnapshots } from "../../store/tools/mcp-snapshots.ts";
import type { Page, Paged } from "../../store/records/paging.ts";
import type { IndexedTool } from "../../store/tables/tools.ts";
import { hintOf, invalidField, namedDependents, NAMES_LOOKED_FOR, notFound, records } from "../writes/records.ts";
import type { Directory, Write } from "../writes/write.ts";
import { forgetItem } from "../limits/group-policies.ts";
import { strippedPicture } from "../pictures/picture.ts";
import { isOwnServer } from "../web-search/own-server.ts";
import { toolServerEntry, type ToolServerEntry } from "./tool-server-entry.ts";

const DEFAULT_PATH = "/mcp";

export function readMcpServer(row: McpServerRow): McpServer {
  return {
    id: row.id,
    tenant_id: row.tenant_id,
    name: row.name,
    description: row.description,
    base_url: row.base_url,
    mcp_endpoint_path: row.mcp_endpoint_path,
    auth_type: row.auth_type as McpServer["auth_type"],
    has_api_key: row.api_key_sealed !== null,
    api_key_hint: row.api_key_hint,
    timeout: row.timeout,
    enabled: row.enabled,
    icon_url: row.icon_url,
    dialect: row.dialect as McpServer["dialect"],
    protocol_version: row.protocol_version,
    server_name: row.server_name,
    server_version: row.server_version,
    capabilities: row.capabilities,
    tools: row.tool_index.map(({ name, hash }) => ({ name, hash })),
    discovered_at: row.discovered_at?.toISOString() ?? null,
    is_healthy: row.is_healthy,
    health_checked_at: row.health_checked_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

function sealedCredential(
  write: Write,
  id: string,
  apiKey: string | null | undefined,
): { api_key_sealed?: string | null; api_key_hint?: string | null } {
  if (apiKey === undefined) return {};
  if (apiKey === null) return { api_key_sealed: null, api_key_hint: null };
  return { api_key_sealed: write.directory.secrets.seal(apiKey, sealContext("mcp_servers", id)), api_key_hint: hintOf(apiKey) };
}

const withoutSlash = (url: string) => url.replace(/\/+$/, "");

const UNPROBED: McpServerPatch = { is_healthy: null, health_checked_at: null };

/** Resets everything that was discovered at the previous address. */
const UNDISCOVERED: McpServerPatch = {
  ...UNPROBED,
  dialect: null,
  protocol_version: null,
  server_name: null,
  server_version: null,
  server_info: null,
  capabilities: "{}",
  instructions: null,
  handshake: null,
  tool_index: "[]",
  discovered_at: null,
};

export const mcpServers = records<
  McpServerRow,
  McpServerInsert,
  McpServerPatch,
  McpServer,
  McpServerCreate,
  McpServerUpdate,
  McpServerQuery,
  string
>({
  resource: "mcp-servers",
  noun: "tool server",
  store: mcpServerStore,
  read: readMcpServer,
  tenantOf: (row) => row.tenant_id,
  unique: "at this base_url and mcp_endpoint_path",
  takenBy: (write, tenantId, candidate) => mcpServerAt(write.trx, tenantId, withoutSlash(candidate.base_url), candidate.mcp_endpoint_path),
  async toInsert(write, tenantId, body) {
    const id = `mcp-${ulid()}`;
    if (body.auth_type === "bearer" && body.api_key == null) throw invalidField("api_key", "is required for auth_type bearer");
    return {
      id,
      tenant_id: tenantId,
      name: body.name,
      description: body.description ?? null,
      base_url: body.base_url,
      mcp_endpoint_path: body.mcp_endpoint_path ?? DEFAULT_PATH,
      auth_type: body.auth_type ?? "none",
      timeout: body.timeout ?? 30,
      enabled: body.enabled ?? true,
      icon_url: body.icon_url ?? null,
      ...sealedCredential(write, id, body.api_key),
      created_at: write.now,
      updated_at: write.now,
    } as McpServerInsert;
  },
  async toPatch(write, _tenantId, row, body) {
    refuseOwnFields(row.id, body);
    const { api_key: writtenKey, ...rest } = body;
    const { base_url: baseUrl } = body;
    const stored = write.directory.secrets.openOrNull(row.api_key_sealed, sealContext("mcp_servers", row.id));
    const isSame = writtenKey === stored && (stored !== null || row.api_key_sealed === null);
    const apiKey = isSame ? undefined : writtenKey;
    const moved = baseUrl !== undefined && withoutSlash(baseUrl) !== withoutSlash(row.base_url);
    // An admin who may write servers may not read keys, so a key must not be sent to another host.
    if (moved && new URL(baseUrl).origin !== new URL(row.base_url).origin && writtenKey === undefined && row.api_key_sealed !== null)
      throw invalidField("api_key", "must be sent again when base_url moves to another host");
    const keyed = writtenKey === undefined ? row.api_key_sealed !== null : writtenKey !== null;
    if ((body.auth_type ?? row.auth_type) === "bearer" && !keyed && (body.auth_type !== undefined || writtenKey !== undefined))
      throw invalidField("api_key", "is required for auth_type bearer");
    const elsewhere = moved || (body.mcp_endpoint_path !== undefined && body.mcp_endpoint_path !== row.mcp_endpoint_path);
    return {
      ...rest,
      ...sealedCredential(write, row.id, apiKey),
      ...(elsewhere ? UNDISCOVERED : apiKey !== undefined || (body.auth_type ?? row.auth_type) !== row.auth_type ? UNPROBED : {}),
      updated_at: write.now,
    } as McpServerPatch;
  },
  dependents: async (write, row) => [
    ...namedDependents("server configurations", await configsOfServer(write.trx, row.tenant_id, row.id, NAMES_LOOKED_FOR)),
    ...namedDependents("virtual servers", await virtualServersWith(write.trx, row.tenant_id, row.id, NAMES_LOOKED_FOR)),
  ],
  removing: (write, row) => forgetItem(write, row.tenant_id, "tool server", row.id),
  notify: (write, row) => write.notify(row.tenant_id, "policy"),
});

/** The address and authentication of the gateway's own servers cannot be configured. */
function refuseOwnFields(id: string, body: McpServerUpdate): void {
  if (!isOwnServer(id)) return;
  for (const field of ["base_url", "mcp_endpoint_path", "auth_type", "api_key"] as const)
    if (body[field] !== undefined) throw invalidField(field, "cannot be set: the gateway itself is this server");
}

/** The server with its credential decrypted, for a probe. Throws a `not_found` refusal. */
export async function probedMcpServer(
  directory: Pick<Directory, "db" | "secrets">,
  tenantId: string,
  id: string,
): Promise<ToolServerEntry> {
  const row = await mcpServerStore.find(directory.db, tenantId, id);
  if (row === undefined) throw notFound("tool server");
  if (isOwnServer(id)) throw new Refused(refuse("conflict", "The gateway itself is this server: there is nothing to look at."));
  return toolServerEntry(row, directory.secrets.openOrNull(row.api_key_sealed, sealContext("mcp_servers", id)));
}

/** Small, because the icon is stored in the record and returned with it. */
export const ICON_BYTES = 64 * 1024;

/** Stores an icon, stripped of metadata. Refuses one that is too large or damaged, naming `field`. */
export async function setMcpServerIcon(write: Write, tenantId: string, id: string, content: Uint8Array, field: string): Promise<McpServer> {
  if (content.byteLength > ICON_BYTES) throw invalidFields("body_too_large", [{ field, message: "is larger than 64 KB" }]);
  const picture = strippedPicture(content);
  if ("fault" in picture) throw invalidField(field, picture.fault);
  if ((await mcpServerStore.find(write.trx, tenantId, id, "lock")) === undefined) throw notFound("tool server");
  await mcpServerStore.update(write.trx, id, {
    icon_url: `data:${picture.type};base64,${picture.content.toString("base64")}`,
    updated_at: write.now,
  });
  write.log({
    tenant_id: tenantId,
    action: "set_icon",
    resource: "mcp-servers",
    resource_id: id,
    after: { mime_type: picture.type, size_bytes: picture.content.byteLength },
  });
  write.notify(tenantId, "policy");
  return readMcpServer((await mcpServerStore.find(write.trx, tenantId, id)) as McpServerRow);
}

/** The result of a conclusive discovery. */
export interface DiscoveredServer {
  readonly dialect: "handshake" | "stateless";
  readonly protocolVersion: string;
  readonly serverName: string | null;
  readonly serverVersion: string | null;
  readonly serverInfo: ToolServerEntry["serverInfo"];
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly instructions: string | null;
  readonly handshake: ToolServerEntry["handshake"];
  readonly tools: readonly unknown[];
  readonly toolIndex: readonly IndexedTool[];
  readonly prompts: readonly unknown[];
  readonly resources: readonly unknown[];
  readonly resourceTemplates: readonly unknown[];
}

/** The server's address changed during the probe, so its result no longer applies. */
export class ServerMoved extends Refused {
  constructor() {
    super(refuse("conflict", "The server's address was changed while it was being looked at."));
  }
}

/**
 * Stores a conclusive discovery with its date and as a snapshot. Returns how the tools differ from the previous ones.
 * Throws `ServerMoved`.
 */
export async function recordDiscovery(
  write: Write,
  tenantId: string,
  id: string,
  probedUrl: string,
  found: DiscoveredServer,
  diff: (before: readonly IndexedTool[], after: readonly IndexedTool[]) => Omit<ToolDiffRead, "changed_under_approval">,
): Promise<ToolDiffRead> {
  const row = await mcpServerStore.find(write.trx, tenantId, id, "lock");
  if (row === undefined) throw notFound("tool server");
  if (toolServerEntry(row, null).url !== probedUrl) throw new ServerMoved();
  const plain = diff(row.tool_index, found.toolIndex);
  const configs = await toolsOfConfigs(write.trx, id);
  const isNamed = (name: string) => configs.some(({ tools }) => tools.has(name) || tools.has("*"));
  const plainDiff: ToolDiffRead = { ...plain, changed_under_approval: plain.changed.filter(isNamed) };
  await mcpServerStore.update(write.trx, id, {
    dialect: found.dialect,
    protocol_version: found.protocolVersion,
    server_name: found.serverName,
    server_version: found.serverVersion,
    server_info: found.serverInfo === null ? null : JSON.stringify(found.serverInfo),
    capabilities: JSON.stringify(found.capabilities),
    instructions: found.instructions,
    handshake: found.handshake === null ? null : JSON.stringify(found.handshake),
    tool_index: JSON.stringify(found.toolIndex),
    discovered_at: write.now,
    is_healthy: true,
    health_checked_at: write.now,
  });
  await insertMcpSnapshot(write.trx, {
    id: ulid(),
    tenant_id: tenantId,
    mcp_server_id: id,
    taken_at: write.now,
    protocol_version: found.protocolVersion,
    dialect: found.dialect,
    server_version: found.serverVersion,
    instructions: found.instructions,
    capabilities: JSON.stringify(found.capabilities),
    tools: JSON.stringify(found.tools),
    prompts: JSON.stringify(found.prompts),
    resources: JSON.stringify(found.resources),
    resource_templates: JSON.stringify(found.resourceTemplates),
    diff: JSON.stringify(plainDiff),
  });
  write.log({
    tenant_id: tenantId,
    action: "discover",
    resource: "mcp-servers",
    resource_id: id,
    after: { dialect: found.dialect, protocol_version: found.protocolVersion, server_version: found.serverVersion, diff: plainDiff },
  });
  write.notify(tenantId, "policy");
  return plainDiff;
}

/** Records the result of a health probe. This is not a policy change. Throws `not_found` and `ServerMoved`. */
export async function recordServerHealth(
  directory: Directory,
  tenantId: string,
  id: string,
  probedUrl: string,
  healthy: boolean,
): Promise<Date> {
  const at = new Date(directory.clock.now());
  await directory.db.transaction().execute(async (trx) => {
    const row = await mcpServerStore.find(trx, tenantId, id, "lock");
    if (row === undefined) throw notFound("tool server");
    if (toolServerEntry(row, null).url !== probedUrl) throw new ServerMoved();
    await mcpServerStore.update(trx, id, { is_healthy: healthy, health_checked_at: at });
  });
  return at;
}

/** Newest first. Throws a `not_found` refusal. */
export async function listMcpSnapshots(directory: Directory, tenantId: string, id: string, page: Page): Promise<Paged<McpSnapshot>> {
  await mcpServers.get(directory, tenantId, id);
  const { items, total } = await mcpSnapshots(directory.db, tenantId, id, page);
  return {
    total,
    items: items.map(({ tenant_id: _tenant, mcp_server_id: _server, taken_at: takenAt, ...rest }) => ({
      ...rest,
      taken_at: takenAt.toISOString(),
    })),
  };
}
