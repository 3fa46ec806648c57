import { z } from "zod";
import { description, displayName, pageQuery, recordId, recordName, search, timestamp } from "./conventions.ts";
import { toolServerId } from "./mcp-servers.ts";

/** No underscore, so that the first `__` in a tool's name always ends the slug. */
const slug = z
  .string()
  .regex(/^[a-z](?:[a-z0-9-]{0,22}[a-z0-9])?$/, "must be 1 to 24 lower-case letters, digits and inner -, beginning with a letter");

const member = z.strictObject({ mcp_server_id: toolServerId, slug: slug.optional().describe("default: derived from the server's name") });

const written = {
  display_name: displayName.optional(),
  description: description.optional(),
  enabled: z.boolean().optional(),
  members: z.array(member).max(64).optional(),
  mcp_server_ids: z.array(toolServerId).max(64).optional().describe("instead of members, with the slugs their names give"),
  group_ids: z
    .array(recordId)
    .max(1000)
    .optional()
    .describe("resource groups that may use it, with those that inherit from them; each member must be granted on its own"),
};

export const virtualServerCreate = z.strictObject({ name: recordName, ...written }).meta({ id: "VirtualServerCreate" });
export const virtualServerUpdate = z.strictObject({ name: recordName.optional(), ...written }).meta({ id: "VirtualServerUpdate" });

export const virtualServer = z
  .strictObject({
    id: z.string().describe("the path segment of the governed endpoint"),
    tenant_id: z.string(),
    name: z.string(),
    display_name: z.string().nullable(),
    description: z.string().nullable(),
    enabled: z.boolean(),
    members: z.array(z.strictObject({ mcp_server_id: z.string(), slug: z.string() })).describe("tools are named {slug}__{tool}"),
    mcp_server_ids: z.array(z.string()),
    group_ids: z.array(recordId),
    dialect: z.literal("dual"),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "VirtualServer" });

export const virtualServerQuery = z.strictObject({ ...pageQuery.shape, search });

export type VirtualServer = z.output<typeof virtualServer>;
export type VirtualServerCreate = z.output<typeof virtualServerCreate>;
export type VirtualServerUpdate = z.output<typeof virtualServerUpdate>;
export type VirtualServerQuery = z.output<typeof virtualServerQuery>;
