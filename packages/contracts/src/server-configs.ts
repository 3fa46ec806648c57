import { z } from "zod";
import { description, displayName, pageQuery, recordId, recordName, search, timestamp } from "./conventions.ts";
import { toolServerId } from "./mcp-servers.ts";

const toolNames = z.array(z.string().min(1).max(300)).max(2000);

const written = {
  group_ids: z
    .array(recordId)
    .max(1000)
    .optional()
    .describe("resource groups that may use the server through it, with those that inherit from them"),
  display_name: displayName.optional(),
  description: description.optional(),
  display_description: description.optional(),
  enabled: z.boolean().optional(),
  priority: z.number().int().min(-1_000_000).max(1_000_000).optional(),
  is_default: z.boolean().optional(),
  enabled_tools: toolNames.nullable().optional().describe("null: all"),
  disabled_tools: toolNames.optional().describe("`*` for all"),
  approval_required_tools: toolNames.optional().describe("`*` for all"),
  approval_timeout_seconds: z.number().int().min(1).max(604_800).optional().describe("default: 900"),
  approver_group_ids: z
    .array(recordId)
    .max(100)
    .optional()
    .describe("groups whose members may resolve approvals; empty: the requester's own group"),
};

export const serverConfigCreate = z
  .strictObject({ mcp_server_id: toolServerId, name: recordName, ...written })
  .meta({ id: "ServerConfigCreate" });

export const serverConfigUpdate = z.strictObject({ name: recordName.optional(), ...written }).meta({ id: "ServerConfigUpdate" });

const fields = {
  id: recordId,
  tenant_id: z.string(),
  mcp_server_id: z.string(),
  name: z.string(),
  display_name: z.string().nullable(),
  description: z.string().nullable(),
  display_description: z.string().nullable(),
  enabled: z.boolean(),
  priority: z.number(),
  is_default: z.boolean(),
  group_ids: z.array(recordId),
  enabled_tools: z.array(z.string()).nullable(),
  disabled_tools: z.array(z.string()),
  approval_required_tools: z.array(z.string()),
  approval_timeout_seconds: z.number(),
  approver_group_ids: z.array(recordId),
  created_at: timestamp,
  updated_at: timestamp,
};

export const serverConfig = z.strictObject(fields).meta({ id: "ServerConfig" });

export const serverConfigQuery = z.strictObject({
  ...pageQuery.shape,
  search,
  mcp_server_id: z.string().max(63).optional(),
  group_id: recordId.optional(),
});

export const effectiveServerConfigs = z
  .strictObject({
    server_configs: z.array(z.strictObject({ ...fields, inherited: z.boolean(), bound_group_id: recordId })),
    effective: z
      .array(
        z.strictObject({
          mcp_server_id: z.string(),
          enabled_tools: z.array(z.string()).nullable(),
          disabled_tools: z.array(z.string()),
          approval_required_tools: z.array(z.string()),
          approval_timeout_seconds: z.number(),
        }),
      )
      .describe("the combined result: each can tighten what the others allow, none can loosen it"),
    total: z.number(),
  })
  .meta({ id: "EffectiveServerConfigs" });

export type ServerConfig = z.output<typeof serverConfig>;
export type ServerConfigCreate = z.output<typeof serverConfigCreate>;
export type ServerConfigUpdate = z.output<typeof serverConfigUpdate>;
export type ServerConfigQuery = z.output<typeof serverConfigQuery>;
export type EffectiveServerConfigs = z.output<typeof effectiveServerConfigs>;
