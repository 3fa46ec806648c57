import { z } from "zod";
import { description, httpUrl, pageQuery, queryFlag, recordName, search, timestamp } from "./conventions.ts";
import { identityProvider } from "./mcp-oauth.ts";

const authType = z.enum(["none", "bearer", "oauth"]);
const bearerKey = z.string().regex(/^[\x21-\x7e]{1,4096}$/, "must be visible ASCII without spaces");

/** ID of a registered tool server, or of one built into the gateway. */
export const toolServerId = z
  .string()
  .regex(/^(?:mcp-[0-9A-HJKMNP-TV-Z]{26}|system-web-search-[a-z0-9][a-z0-9._-]{0,99})$/, "must be the id of a tool server");
const endpointPath = z
  .string()
  .max(500)
  .regex(/^(?:\/[\w.~!$&'()*+,;=:@%/-]*)?$/, "must be empty or a path that begins with /")
  .refine((path) => !/(?:^|\/)\.{1,2}(?:\/|$)/.test(path), "may not climb");

const written = {
  description: description.optional(),
  auth_type: authType
    .optional()
    .describe("how the gateway authenticates there: not at all, with api_key as bearer, or with the caller's own token; default: none"),
  api_key: bearerKey.nullable().optional().describe("write-only, for auth_type bearer; null removes it"),
  timeout: z.number().positive().max(3600).optional().describe("seconds until an answer must begin; default: 30"),
  enabled: z.boolean().optional(),
  icon_url: httpUrl.nullable().optional(),
};

export const mcpServerCreate = z
  .strictObject({
    name: recordName,
    base_url: httpUrl,
    mcp_endpoint_path: endpointPath.optional().describe("default: /mcp; empty: base_url itself"),
    ...written,
  })
  .meta({ id: "McpServerCreate" });

export const mcpServerUpdate = z
  .strictObject({
    name: recordName.optional(),
    base_url: httpUrl.optional(),
    mcp_endpoint_path: endpointPath.optional().describe("empty: base_url itself"),
    ...written,
  })
  .meta({ id: "McpServerUpdate" });

const discoveryStatus = z.enum(["found", "unauthorized", "inconclusive"]);

export const toolDiff = z
  .strictObject({
    added: z.array(z.string()),
    removed: z.array(z.string()),
    changed: z.array(z.string()),
    changed_under_approval: z
      .array(z.string())
      .describe("changed tools that a server configuration names: they were allowed with another definition"),
  })
  .meta({ id: "ToolDiff" });

export const mcpServer = z
  .strictObject({
    id: z.string().describe("the path segment of the governed endpoint"),
    tenant_id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    base_url: z.string(),
    mcp_endpoint_path: z.string(),
    auth_type: authType,
    has_api_key: z.boolean(),
    api_key_hint: z.string().nullable(),
    timeout: z.number(),
    enabled: z.boolean(),
    icon_url: z.string().nullable(),
    dialect: z.enum(["handshake", "stateless"]).nullable().describe("null until a discovery has succeeded"),
    protocol_version: z.string().nullable(),
    server_name: z.string().nullable(),
    server_version: z.string().nullable(),
    capabilities: z.record(z.string(), z.unknown()),
    tools: z.array(z.strictObject({ name: z.string(), hash: z.string() })).describe("as last discovered, with the hash of each definition"),
    discovered_at: timestamp.nullable(),
    is_healthy: z.boolean().nullable(),
    health_checked_at: timestamp.nullable(),
    discovery: z
      .strictObject({ status: discoveryStatus, detail: z.string(), diff: toolDiff.nullable().describe("null if nothing was found") })
      .optional()
      .describe("after a create, and after a change of address or authentication: the result of discovery"),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "McpServer" });

export const mcpServerQuery = z.strictObject({ ...pageQuery.shape, search, enabled_only: queryFlag.optional() });

export const refreshResult = z
  .strictObject({
    status: discoveryStatus,
    detail: z.string(),
    diff: toolDiff.nullable().describe("null if nothing was found"),
    server: mcpServer,
  })
  .meta({ id: "McpRefresh" });

export const mcpHealth = z
  .strictObject({ id: z.string(), is_healthy: z.boolean(), status: discoveryStatus, detail: z.string(), health_checked_at: timestamp })
  .meta({ id: "McpServerHealth" });

export const refreshBody = z
  .strictObject({
    access_token: bearerKey.optional().meta({ description: "Sent to a server behind OAuth for this discovery only, and not stored" }),
  })
  .meta({ id: "RefreshCapabilities" });

export const testConnectionBody = z
  .strictObject({
    base_url: httpUrl,
    mcp_endpoint_path: endpointPath.optional(),
    auth_type: authType.optional(),
    api_key: bearerKey.nullable().optional(),
    timeout: z.number().positive().max(60).optional(),
  })
  .meta({ id: "TestConnection" });

export const testConnectionResult = z
  .strictObject({
    status: discoveryStatus,
    detail: z.string(),
    dialect: z.string().nullable(),
    protocol_version: z.string().nullable(),
    server_name: z.string().nullable(),
    server_version: z.string().nullable(),
    tools: z.array(z.string()),
    oauth: z
      .strictObject({
        resource: z.string().nullable(),
        resource_metadata_url: z.string().nullable(),
        authorization_servers: z.array(z.string()),
        scopes_supported: z.array(z.string()),
        problem: z.string().nullable().describe("why the server's metadata cannot be used; null if it can"),
        identity_providers: z.array(identityProvider).describe("metadata of each of them"),
      })
      .nullable()
      .describe("how the server says to authorize; null if it says nothing"),
  })
  .meta({ id: "TestConnectionResult" });

export const mcpSnapshot = z
  .strictObject({
    id: z.string(),
    taken_at: timestamp,
    protocol_version: z.string(),
    dialect: z.string(),
    server_version: z.string().nullable(),
    instructions: z.string().nullable(),
    capabilities: z.record(z.string(), z.unknown()),
    tools: z.array(z.unknown()),
    prompts: z.array(z.unknown()),
    resources: z.array(z.unknown()),
    resource_templates: z.array(z.unknown()),
    diff: toolDiff,
  })
  .meta({ id: "McpSnapshot" });

const definitions = z.strictObject({ snapshot_id: z.string(), taken_at: timestamp });

export const definitionDrift = z
  .strictObject({
    accepted: definitions
      .extend({ accepted_at: timestamp.nullable().describe("null while nobody has accepted any: the first discovery counts") })
      .nullable()
      .describe("null until a discovery has succeeded"),
    current: definitions.nullable(),
    instructions: z
      .strictObject({ before: z.string().nullable(), after: z.string().nullable() })
      .nullable()
      .describe("the server's instructions for models, if they differ from the accepted ones"),
    tools: z.array(
      z.strictObject({
        name: z.string(),
        change: z.enum(["added", "removed", "changed"]),
        before: z.unknown().describe("the accepted definition; null if there was none"),
        after: z.unknown().describe("the latest definition; null if the tool is gone"),
        named_by: z.array(z.string()).describe("server configurations that name the tool, which was allowed with another definition"),
      }),
    ),
  })
  .meta({ id: "ToolDefinitionDrift" });

export const acceptDefinitions = z
  .strictObject({ snapshot_id: z.string().max(64).describe("the current one, as it was reviewed") })
  .meta({ id: "AcceptToolDefinitions" });

export type DefinitionDrift = z.output<typeof definitionDrift>;
export type McpServer = z.output<typeof mcpServer>;
export type McpServerCreate = z.output<typeof mcpServerCreate>;
export type McpServerUpdate = z.output<typeof mcpServerUpdate>;
export type McpServerQuery = z.output<typeof mcpServerQuery>;
export type McpSnapshot = z.output<typeof mcpSnapshot>;
export type ToolDiffRead = z.output<typeof toolDiff>;
