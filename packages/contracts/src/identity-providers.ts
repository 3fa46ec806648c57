import { z } from "zod";
import { httpUrl, pageQuery, recordId, recordName, timestamp } from "./conventions.ts";
import { TENANT_ROLES } from "./roles.ts";

/** External identity providers, where people sign in and whose tokens calls may present. */

const claim = z.string().min(1).max(200);
const values = z.array(z.string().min(1).max(500)).min(1).max(100);
const url = httpUrl;

const oidcSettings = z.strictObject({
  issuer: url.describe("as in its discovery document"),
  client_id: z.string().min(1).max(500).nullable().default(null).describe("the gateway's, for sign-in; null for the audience api"),
  scopes: z.array(z.string().min(1).max(100)).max(30).default(["openid", "profile", "email"]),
  subject_claims: z.array(claim).min(1).max(4).default(["sub"]).describe("the permanent identifier of a person; tid and oid for Entra ID"),
  sign_out: z
    .boolean()
    .default(false)
    .describe("whether signing out here continues to signing out at the provider; allow the portal's or console's address there"),
  required_claims: z.record(claim, values).default({}).describe("claims that must have one of these values, such as tid or hd"),
});

const samlSettings = z.strictObject({
  entity_id: z.string().min(1).max(1000).describe("the provider's own"),
  sso_url: url,
  certificates: z.array(z.string().min(100).max(20_000)).min(1).max(5).describe("PEM; several during a rollover"),
  response_signed: z
    .boolean()
    .default(false)
    .describe("whether the whole response must be signed as well as the assertion, which always must be"),
  allow_unsolicited: z.boolean().default(false).describe("whether a sign-in may begin at the provider"),
  subject_attribute: claim.nullable().default(null).describe("null: the NameID, where it is persistent"),
});

const attributeNames = z.strictObject({
  username: claim.nullable().default(null).describe("null: preferred_username, else email; for SAML the NameID"),
  email: claim.nullable().default(null),
  display_name: claim.nullable().default(null),
  groups: claim.nullable().default(null).describe("may be a path with dots; null: groups"),
});

const groupMapping = z.strictObject({
  group: z.string().min(1).max(500).describe("as the provider names it, by its id unless you chose names there"),
  end_user_group_id: recordId.nullable().default(null).describe("portal: its members become members of this group"),
  role: z.enum(TENANT_ROLES).nullable().default(null).describe("admin: its members have this role"),
  resource_group_id: recordId.nullable().default(null).describe("api: its members may use this resource group"),
});

const apiSettings = z.strictObject({
  audiences: values.describe("audiences, one of which a token must name; never the client ID of a sign-in"),
  subjects: values.nullable().default(null).describe("subjects whose tokens are accepted; null: all that pass the other rules"),
  max_age_seconds: z.number().int().min(60).max(86_400).default(3600).describe("maximum age of a token, from its iat"),
  resource_group_id: recordId.nullable().default(null).describe("for tokens that match no group mapping"),
});

const shape = {
  name: recordName,
  enabled: z.boolean(),
  oidc: oidcSettings.nullable(),
  saml: samlSettings.nullable(),
  api: apiSettings.nullable(),
  attributes: attributeNames,
  group_mappings: z.array(groupMapping).max(1000),
  required_group: z.string().min(1).max(500).nullable().describe("only its members are admitted"),
  allowed_domains: z.array(z.string().min(1).max(253)).max(100).describe("domains of e-mail addresses that are admitted; empty: any"),
  create_accounts: z.boolean().describe("whether new people get an account when they first sign in"),
  scim_directory: z
    .string()
    .max(63)
    .nullable()
    .describe("the directory that provisions these people: its externalId identifies them at this provider, and its groups count"),
  suspends_api_keys: z
    .boolean()
    .describe("portal: whether the API keys of people it no longer admits are suspended until they sign in again"),
  two_factor_at_provider: z
    .boolean()
    .describe(
      "admin: whether the provider asks for a second factor itself, so that a tenant that requires one does not ask for the gateway's own; required_claims, such as amr: mfa, can enforce it",
    ),
};

const defaults = {
  enabled: shape.enabled.default(true),
  oidc: shape.oidc.default(null),
  saml: shape.saml.default(null),
  api: shape.api.default(null),
  attributes: shape.attributes.default({ username: null, email: null, display_name: null, groups: null }),
  group_mappings: shape.group_mappings.default([]),
  required_group: shape.required_group.default(null),
  allowed_domains: shape.allowed_domains.default([]),
  create_accounts: shape.create_accounts.default(false),
  scim_directory: shape.scim_directory.default(null),
  suspends_api_keys: shape.suspends_api_keys.default(true),
  two_factor_at_provider: shape.two_factor_at_provider.default(false),
};

const kind = z.enum(["oidc", "saml"]);
const audience = z.enum(["portal", "admin", "api"]).describe("who signs in with it: people, administrators, or calls with a token");
const clientSecret = z.string().min(1).max(2000).nullable().optional().describe("write-only; reads show has_client_secret");

export const identityProviderCreate = z
  .strictObject({ kind, audience, ...shape, ...defaults, client_secret: clientSecret })
  .refine((body) => (body.kind === "oidc") === (body.oidc !== null) && (body.kind === "saml") === (body.saml !== null), {
    path: ["kind"],
    message: "needs the settings of its kind, and no others",
  })
  .refine((body) => (body.audience === "api") === (body.api !== null) && (body.audience !== "api" || body.kind === "oidc"), {
    path: ["api"],
    message: "belongs to the audience api, which is oidc",
  })
  .refine((body) => body.kind !== "oidc" || body.audience === "api" || (body.oidc?.client_id ?? null) !== null, {
    path: ["oidc", "client_id"],
    message: "is what people sign in with",
  })
  .meta({ id: "IdentityProviderCreate" });

export const identityProviderUpdate = z
  .strictObject({ ...z.strictObject(shape).partial().shape, client_secret: clientSecret })
  .meta({ id: "IdentityProviderUpdate" });

export const signOnProvider = z
  .strictObject({
    id: recordId,
    tenant_id: z.string(),
    kind,
    audience,
    ...shape,
    has_client_secret: z.boolean(),
    redirect_uri: z
      .string()
      .nullable()
      .describe("to be registered at the provider: the path of the callback, or of the ACS, on the plane where people sign in"),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "SignOnProvider" });

export const identityProviderQuery = z.strictObject({ ...pageQuery.shape, audience: audience.optional() });

export const mappingPreview = z
  .strictObject({ claims: z.record(z.string(), z.unknown()).describe("claims of an ID token, or attributes of an assertion") })
  .meta({ id: "MappingPreview" });

export const mappingPreviewResult = z
  .strictObject({
    subject: z.string().nullable(),
    username: z.string().nullable(),
    email: z.string().nullable(),
    display_name: z.string().nullable(),
    groups: z.array(z.string()),
    end_user_group_ids: z.array(z.string()),
    role: z.string().nullable(),
    resource_group_ids: z.array(z.string()),
    allowed: z.boolean(),
    reason: z.string().nullable().describe("why they would not be admitted"),
  })
  .meta({ id: "MappingPreviewResult" });

/** Longest subject, its parts joined. */
export const MAX_SUBJECT = 2003;

const subject = z
  .string()
  .min(1)
  .max(MAX_SUBJECT)
  .describe(
    "the permanent identifier at the provider, as a test shows it; several subject_claims are joined with slashes, or with double slashes if a value itself has a slash, which is then %2F",
  );

export const signOnIdentityCreate = z
  .strictObject({
    subject,
    end_user_id: recordId.optional().describe("of a provider of the portal"),
    admin_user_id: recordId.optional().describe("of a provider of the console"),
  })
  .meta({ id: "SignOnIdentityCreate" });

export const signOnIdentity = z
  .strictObject({
    subject: z.string(),
    end_user_id: recordId.nullable(),
    admin_user_id: recordId.nullable(),
    username: z.string().nullable().describe("as last reported by the provider; null before the first sign-in"),
    email: z.string().nullable(),
    last_login: timestamp.nullable(),
    created_at: timestamp,
  })
  .meta({ id: "SignOnIdentity" });

export const signOnIdentityQuery = z.strictObject({
  ...pageQuery.shape,
  subject: subject.optional(),
  end_user_id: recordId.optional(),
  admin_user_id: recordId.optional(),
});

/** The subject may be in the query or in the body. */
export const signOnIdentityNamed = z.strictObject({ subject: subject.optional() });

export type SignOnIdentity = z.output<typeof signOnIdentity>;
export type SignOnIdentityCreate = z.output<typeof signOnIdentityCreate>;
export type SignOnIdentityQuery = z.output<typeof signOnIdentityQuery>;
export type SignOnProvider = z.output<typeof signOnProvider>;
export type IdentityProviderCreate = z.output<typeof identityProviderCreate>;
export type IdentityProviderUpdate = z.output<typeof identityProviderUpdate>;
export type IdentityProviderQuery = z.output<typeof identityProviderQuery>;
export type IdentityProviderSettings = Omit<
  SignOnProvider,
  "id" | "tenant_id" | "kind" | "audience" | "name" | "enabled" | "has_client_secret" | "redirect_uri" | "created_at" | "updated_at"
>;
export type MappingPreviewResult = z.output<typeof mappingPreviewResult>;
