import { z } from "zod";
import { newPasswordText, passwordText } from "./admin-users.ts";
import { recordId } from "./conventions.ts";
import { anyRole } from "./roles.ts";

const credentials = { username: z.string().min(1).max(400), password: passwordText };

export const systemLogin = z.strictObject(credentials).meta({ id: "SystemLogin" });

export const tenantLogin = z
  .strictObject({
    ...credentials,
    tenant_id: z
      .string()
      .min(1)
      .max(63)
      .optional()
      .describe("left out: X-Tenant-ID, else the one tenant that has this username, else `default`"),
  })
  .meta({ id: "TenantLogin" });

export const anyLogin = z
  .strictObject({
    ...credentials,
    tenant_id: tenantLogin.shape.tenant_id.describe(
      "of a tenant's admin: left out: X-Tenant-ID, else the one tenant that has this username, else `default`",
    ),
  })
  .meta({ id: "Login" });

export const changePassword = z
  .strictObject({ current_password: passwordText, new_password: newPasswordText })
  .meta({ id: "ChangePassword" });

export const signedInAdmin = z
  .strictObject({
    id: recordId,
    username: z.string(),
    role: anyRole,
    tenant_id: z.string().nullable(),
    permissions: z.array(z.string()),
    two_factor: z
      .enum(["on", "off", "owed"])
      .describe("owed: the tenant requires two-factor sign-in, which must be set up before anything else"),
  })
  .meta({ id: "SignedInAdmin" });

export const accessToken = z
  .strictObject({
    access_token: z.string().describe("sent as Authorization: Bearer"),
    token_type: z.literal("bearer"),
    expires_in: z.number().int().describe("seconds"),
    user: signedInAdmin,
  })
  .meta({ id: "AccessToken" });

export type SignedInAdmin = z.output<typeof signedInAdmin>;

const code = z.string().trim().min(1).max(40);

/** Answer of a login with the right password to an account with two-factor sign-in. */
export const codeOwed = z
  .strictObject({
    requires_2fa: z.literal(true),
    temp_token: z.string().describe("valid for 5 minutes, at /v1/admin-users/login/2fa only"),
    user: z.strictObject({ id: recordId, username: z.string() }),
  })
  .meta({ id: "CodeOwed" });

export const loginAnswer = z.union([accessToken, codeOwed]);
export const codeLogin = z.strictObject({ temp_token: z.string().min(1).max(2000), code }).meta({ id: "CodeLogin" });
export const adminCode = z.strictObject({ code }).meta({ id: "AdminCode" });

export const adminFactorBegin = z
  .strictObject({
    password: passwordText.optional().describe("your password, if you have one and signed in more than 15 minutes ago or at a page"),
  })
  .meta({ id: "AdminFactorBegin" });

export const adminFactorState = z
  .strictObject({
    enabled: z.boolean(),
    pending: z.boolean(),
    backup_codes_remaining: z.number().int(),
    has_password: z.boolean().describe("false: the account signs in through an identity provider only"),
  })
  .meta({ id: "AdminFactorStatus" });

export const adminFactorSetup = z
  .strictObject({ secret: z.string(), otpauth_url: z.string(), backup_codes: z.array(z.string()) })
  .meta({ id: "AdminFactorSetup" });
