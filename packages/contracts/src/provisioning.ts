import { z } from "zod";
import { pageQuery, recordId, recordName, timestamp } from "./conventions.ts";

/** External directories (SCIM): their tokens, and the log of what they changed. */

const directoryName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, "must be small letters, digits, - and _")
  .refine((name) => name !== "direct", "is what memberships given by hand are called")
  .describe("the directory it belongs to, which is the source of memberships. Tokens of one directory see the same people");

const expiresAt = timestamp.nullable().optional().describe("null or left out: never");
const adoptExisting = z
  .boolean()
  .optional()
  .describe("whether an existing person with the username that the directory sends becomes the directory's; default: off");
const removeAllMembers = z
  .boolean()
  .optional()
  .describe("whether one request may remove more than 50 members of a group and keep at most one in ten; default: off");

export const scimTokenCreate = z
  .strictObject({
    name: recordName,
    directory: directoryName.optional().describe("default: scim"),
    adopt_existing: adoptExisting,
    remove_all_members: removeAllMembers,
    expires_at: expiresAt,
  })
  .meta({ id: "ScimTokenCreate" });

export const scimTokenUpdate = z
  .strictObject({ name: recordName.optional(), adopt_existing: adoptExisting, remove_all_members: removeAllMembers, expires_at: expiresAt })
  .meta({ id: "ScimTokenUpdate" });

export const scimToken = z
  .strictObject({
    id: recordId,
    tenant_id: z.string(),
    name: z.string(),
    directory: z.string(),
    token_hint: z.string().describe("last 4 characters"),
    status: z.enum(["active", "revoked", "expired"]),
    adopt_existing: z.boolean(),
    remove_all_members: z.boolean(),
    expires_at: timestamp.nullable(),
    revoked_at: timestamp.nullable(),
    last_used_at: timestamp.nullable().describe("to the minute"),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "ScimToken" });

export const mintedScimToken = z
  .strictObject({ ...scimToken.shape, token: z.string().describe("the token itself, shown only here") })
  .meta({ id: "MintedScimToken" });

export const scimTokenQuery = pageQuery;

export const provisioningEntry = z
  .strictObject({
    id: z.string().describe("ULID, time-sortable"),
    at: timestamp,
    directory: z.string(),
    token_id: recordId.nullable(),
    method: z.string(),
    resource_type: z.enum(["User", "Group"]),
    resource_id: z.string().nullable(),
    status: z.number().int().describe("status returned to the directory"),
    outcome: z.enum(["created", "adopted", "restored", "changed", "deactivated", "reactivated", "deleted", "conflict", "refused"]),
    detail: z
      .record(z.string(), z.unknown())
      .describe("`changed`: names of attributes; `ignored`: unknown names; `members`: numbers added and removed; `reason`"),
  })
  .meta({ id: "ProvisioningEntry" });

export const provisioningQuery = z.strictObject({
  ...pageQuery.shape,
  directory: z.string().max(63).optional(),
  resource_type: z.enum(["User", "Group"]).optional(),
  resource_id: recordId.optional(),
  outcome: z.enum(["created", "adopted", "restored", "changed", "deactivated", "reactivated", "deleted", "conflict", "refused"]).optional(),
});

export type ScimToken = z.output<typeof scimToken>;
export type MintedScimToken = z.output<typeof mintedScimToken>;
export type ScimTokenCreate = z.output<typeof scimTokenCreate>;
export type ScimTokenUpdate = z.output<typeof scimTokenUpdate>;
export type ProvisioningEntry = z.output<typeof provisioningEntry>;
export type ProvisioningQuery = z.output<typeof provisioningQuery>;
