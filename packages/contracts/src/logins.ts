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

export const changePassword = z
  .strictObject({ current_password: passwordText, new_password: newPasswordText })
  .meta({ id: "ChangePassword" });

export const signedInAdmin = z
  .strictObject({ id: recordId, username: z.string(), role: anyRole, tenant_id: z.string().nullable(), permissions: z.array(z.string()) })
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
