import { z } from "zod";
import { newPasswordText } from "./admin-users.ts";
import { displayName, hidesMarks, pageQuery, queryFlag, recordId, search, timestamp } from "./conventions.ts";

export const endUsername = z
  .string()
  .normalize("NFC")
  .min(1)
  .max(100)
  .refine((text) => text.trim() === text && !/\p{C}/u.test(text), "must have no control characters and no space at either end")
  .refine((text) => !hidesMarks(text), "must have no characters that nobody sees: it would look like another's");
export const endUserEmail = z.email().max(320).nullable();
export const avatarUrl = z
  .url({ protocol: /^https?$/, error: "must be an http or https address" })
  .max(2000)
  .nullable();

const MAX_METADATA = 16_384;

export const endUserMetadata = z
  .record(z.string().max(200), z.unknown())
  .refine((value) => JSON.stringify(value).length <= MAX_METADATA, "must be at most 16 KB of JSON");

const mustChange = z.boolean().optional();

export const endUserCreate = z
  .strictObject({
    username: endUsername,
    password: newPasswordText,
    email: endUserEmail.optional(),
    display_name: displayName.optional(),
    must_change_password: mustChange.describe("true: they must choose their own password before anything else; default: false"),
    metadata: endUserMetadata.optional(),
    avatar_url: avatarUrl.optional().describe("instead of a photo"),
    primary_group_id: recordId.nullable().optional().describe("the resource group the user is put in"),
    send_welcome_email: z
      .boolean()
      .optional()
      .describe("sends the user a mail about their account, at `email`, where the gateway has a mail server; default: false"),
  })
  .meta({ id: "EndUserCreate" });

export const endUserUpdate = z
  .strictObject({
    email: endUserEmail.optional(),
    display_name: displayName.optional(),
    metadata: endUserMetadata.optional(),
    avatar_url: avatarUrl.optional().describe("instead of a photo, which is removed; null: neither"),
    primary_group_id: recordId
      .nullable()
      .optional()
      .describe("the resource group the user is put in; null removes them from the one an administrator assigned"),
    is_active: z.boolean().optional().describe("false ends the user's tokens"),
    is_verified: z.boolean().optional(),
    password: newPasswordText.optional().describe("ends the user's tokens"),
    must_change_password: mustChange.describe("true: they must choose their own password before anything else"),
  })
  .meta({ id: "EndUserUpdate" });

export const endUserStatus = z
  .strictObject({ is_active: z.boolean().describe("false ends the user's tokens") })
  .meta({ id: "EndUserStatus" });
export const endUserPrimaryGroup = z
  .strictObject({ group_id: recordId.nullable().describe("null removes the user from the group an administrator assigned") })
  .meta({ id: "EndUserPrimaryGroup" });

export const endUser = z
  .strictObject({
    id: recordId,
    tenant_id: z.string(),
    username: z.string(),
    email: z.string().nullable(),
    display_name: z.string().nullable(),
    is_active: z.boolean(),
    is_verified: z.boolean(),
    must_change_password: z.boolean(),
    metadata: z.record(z.string(), z.unknown()),
    avatar_url: z.string().nullable().describe("of a photo: a path that both planes serve"),
    totp_enabled: z.boolean(),
    api_keys_suspended_at: timestamp
      .nullable()
      .describe("since when their API keys are suspended because an identity provider no longer admits them; their next sign-in ends it"),
    primary_group_id: recordId.nullable(),
    last_login: timestamp.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "EndUser" });

export const madeEndUser = z.strictObject({ user: endUser, welcome_email_sent: z.boolean() }).meta({ id: "MadeEndUser" });
export const photoSet = z.strictObject({ success: z.boolean(), avatar_url: z.string() }).meta({ id: "PhotoSet" });

export const endUserQuery = z.strictObject({ ...pageQuery.shape, search, active_only: queryFlag.optional() });

export type EndUser = z.output<typeof endUser>;
export type MadeEndUser = z.output<typeof madeEndUser>;
export type EndUserCreate = z.output<typeof endUserCreate>;
export type EndUserUpdate = z.output<typeof endUserUpdate>;
export type EndUserQuery = z.output<typeof endUserQuery>;
