import { z } from "zod";

/** Single sign-on, as the web pages see it. */

export const signOnOfferQuery = z.strictObject({ tenant_id: z.string().max(63).optional().describe("instead of X-Tenant-ID") });

export const signOnStartQuery = z.strictObject({
  return_to: z.string().max(500).optional().describe("path on this plane to continue at; anything else leads to the start page"),
  test: z
    .string()
    .max(200)
    .optional()
    .describe("a ticket of POST /v1/admin/identity-providers/{id}/test: shows what came in, and signs nobody in"),
});

export const signOnCode = z.strictObject({ code: z.string().min(20).max(200).describe("what followed #sso= in the address") });

export const signOnOffers = z
  .strictObject({
    providers: z.array(z.strictObject({ id: z.string(), name: z.string(), kind: z.enum(["oidc", "saml"]), start: z.string() })),
    local_passwords: z.boolean().describe("whether a username and password are accepted as well"),
  })
  .meta({ id: "SignOnOffers" });

export const signOnEnd = z
  .strictObject({ continue_at: z.string().nullable().describe("where to sign out at the provider as well; null: nowhere") })
  .meta({ id: "SignOnEnd" });

export const signOnTest = z
  .strictObject({
    start: z.string().describe("path to open in a browser, on the plane where people sign in"),
    address: z.string().nullable().describe("the full address; null if this process does not know the address of that plane"),
  })
  .meta({ id: "SignOnTest" });
