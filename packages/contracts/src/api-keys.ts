import { z } from "zod";
import { pageQuery, recordId, recordName, search, timestamp } from "./conventions.ts";

export const keyScope = z.enum(["global", "group", "user"]);
export const keyStatus = z.enum(["active", "revoked", "expired"]);
const accessMode = z.enum(["shared"]);
const skillIds = z.array(z.string().min(1).max(200)).max(1000).nullable().describe("null: all skills of the group");

const allowedAddresses = z
  .array(z.string().min(1).max(50))
  .min(1)
  .max(200)
  .nullable()
  .describe("IPv4 and IPv6 addresses and CIDR ranges, such as 10.0.0.0/8, from which the key is accepted; null: every address");

export const apiKeyCreate = z
  .strictObject({
    name: recordName,
    access_mode: accessMode.optional(),
    scope: keyScope.optional().describe("default: global"),
    end_user_id: recordId.optional().describe("for a key with the scope user: its owner"),
    expires_at: timestamp.nullable().optional(),
    allowed_skill_ids: skillIds.optional(),
    allowed_addresses: allowedAddresses.optional(),
  })
  .refine((body) => (body.scope === "user") === (body.end_user_id !== undefined), {
    path: ["end_user_id"],
    message: "belongs to the scope user, and that scope needs it",
  })
  .meta({ id: "ApiKeyCreate" });

export const apiKeyUpdate = z
  .strictObject({
    name: recordName.optional(),
    access_mode: accessMode.optional(),
    expires_at: timestamp.nullable().optional().describe("null: never"),
    allowed_skill_ids: skillIds.optional(),
    allowed_addresses: allowedAddresses.optional(),
  })
  .meta({ id: "ApiKeyUpdate" });

export const apiKeyRotate = z
  .strictObject({
    grace_seconds: z
      .number()
      .int()
      .min(0)
      .max(2_592_000)
      .optional()
      .describe("seconds for which the old value stays valid; default: 0, at most 30 days"),
  })
  .meta({ id: "ApiKeyRotate" });

export const apiKey = z
  .strictObject({
    id: recordId,
    tenant_id: z.string(),
    name: z.string(),
    scope: keyScope,
    access_mode: accessMode,
    resource_group_id: recordId.nullable().describe("null once the group of a dead key was deleted"),
    end_user_id: recordId.nullable(),
    allowed_skill_ids: z.array(z.string()).nullable(),
    allowed_addresses: z.array(z.string()).nullable(),
    key_hint: z.string().describe("last 4 characters"),
    status: keyStatus,
    expires_at: timestamp.nullable(),
    revoked_at: timestamp.nullable(),
    previous_valid_until: timestamp
      .nullable()
      .describe("until when the value before the last rotation is accepted; earlier values have their own end"),
    last_used_at: timestamp.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "ApiKey" });

const plaintext = z.string().describe("the key itself, shown only here");

/** All three members hold the same plaintext key. */
export const mintedApiKey = z
  .strictObject({ ...apiKey.shape, key_value: plaintext, full_key: plaintext, key: plaintext })
  .meta({ id: "MintedApiKey" });

const keySearch = search.describe("part of a name, case-insensitive; or the key itself, or its last 4 characters");

export const apiKeyQuery = z.strictObject({
  ...pageQuery.shape,
  search: keySearch,
  status: keyStatus.optional(),
  scope: keyScope.optional(),
  resource_group_id: recordId.optional(),
});
export const groupApiKeyQuery = z.strictObject({
  ...pageQuery.shape,
  search: keySearch,
  status: keyStatus.optional(),
  scope: keyScope.optional(),
});

export type ApiKey = z.output<typeof apiKey>;
export type MintedApiKey = z.output<typeof mintedApiKey>;
export type ApiKeyCreate = z.output<typeof apiKeyCreate>;
export type ApiKeyUpdate = z.output<typeof apiKeyUpdate>;
export type ApiKeyQuery = z.output<typeof apiKeyQuery>;
