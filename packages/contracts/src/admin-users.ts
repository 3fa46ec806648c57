import { z } from "zod";
import { displayName, hidesMarks, pageQuery, queryFlag, recordId, search, timestamp } from "./conventions.ts";
import { anyRole } from "./roles.ts";
import { tenantSlug } from "./tenants.ts";

export const username = z
  .string()
  .normalize("NFC")
  .regex(/^[\p{L}\p{M}\p{N}._@+-]{1,100}$/u, "must be 1 to 100 letters, digits and . _ @ + -")
  .refine((text) => !hidesMarks(text), "must have no characters that nobody sees: it would look like another's");
const MAX_PASSWORD_LENGTH = 200;
export const newPasswordText = z.string().normalize("NFC").min(8, "must be at least 8 characters").max(MAX_PASSWORD_LENGTH);
/** Limited as typed, before normalization: a letter that is one character in composed form may be four when decomposed. */
export const passwordText = z
  .string()
  .min(1)
  .max(4 * MAX_PASSWORD_LENGTH);
const breakGlass = z
  .boolean()
  .describe("whether they may sign in with their password although the tenant has switched passwords off; only owners can set this");
const email = z.email().max(320).nullable();

export const adminUserCreate = z
  .strictObject({
    username,
    password: newPasswordText,
    email: email.optional(),
    display_name: displayName.optional(),
    role: anyRole.optional().describe("default: owner if a system admin creates a tenant's admin, viewer if a tenant admin does"),
    is_active: z.boolean().optional(),
    break_glass: breakGlass.optional(),
  })
  .meta({ id: "AdminUserCreate" });

export const adminUserUpdate = z
  .strictObject({
    email: email.optional(),
    display_name: displayName.optional(),
    role: anyRole.optional(),
    is_active: z.boolean().optional().describe("false ends the user's tokens"),
    break_glass: breakGlass.optional(),
    password: newPasswordText.optional().describe("ends the user's tokens; change your own with change-password"),
  })
  .meta({ id: "AdminUserUpdate" });

export const adminUser = z
  .strictObject({
    id: recordId,
    tenant_id: tenantSlug.nullable().describe("null: a system admin"),
    username: z.string(),
    email: z.string().nullable(),
    display_name: z.string().nullable(),
    role: anyRole,
    is_active: z.boolean(),
    break_glass: z.boolean(),
    totp_enabled: z.boolean().describe("whether two-factor sign-in is set up"),
    last_login: timestamp.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "AdminUser" });

export const adminUserQuery = z.strictObject({ ...pageQuery.shape, search, role: anyRole.optional(), active_only: queryFlag.optional() });

export type AdminUser = z.output<typeof adminUser>;
export type AdminUserCreate = z.output<typeof adminUserCreate>;
export type AdminUserUpdate = z.output<typeof adminUserUpdate>;
export type AdminUserQuery = z.output<typeof adminUserQuery>;
