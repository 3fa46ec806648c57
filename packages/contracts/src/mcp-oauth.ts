import { z } from "zod";
import { httpUrl, timestamp } from "./conventions.ts";

const scope = z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/, "must be one scope");

/** The gateway's client registration at a tool server's authorization server, entered by an administrator. */
export const mcpOAuthClientWrite = z
  .strictObject({
    issuer: httpUrl.describe("the authorization server, exactly as in its own metadata"),
    client_id: z.string().min(1).max(2000),
    client_secret: z
      .string()
      .min(1)
      .max(4096)
      .nullable()
      .optional()
      .describe("write-only; null for a public client; if missing, the stored one for the same issuer and client_id stays"),
    token_endpoint_auth_method: z
      .enum(["client_secret_basic", "client_secret_post", "none"])
      .optional()
      .describe("default: client_secret_basic with a secret, otherwise none"),
    scopes: z
      .array(scope)
      .max(100)
      .nullable()
      .optional()
      .describe("scopes of a first authorization; null: those that the tool server names"),
  })
  .meta({ id: "McpOAuthClientWrite" });

export const mcpOAuthClient = z
  .strictObject({
    mcp_server_id: z.string(),
    issuer: z.string(),
    client_id: z.string(),
    has_client_secret: z.boolean(),
    token_endpoint_auth_method: z.string(),
    scopes: z.array(z.string()).nullable(),
    idp_server_id: z
      .string()
      .describe(
        "the path segment of the issuer in the broker's addresses; the redirect address to enter there is " +
          "{base_url}/v1/proxy/oauth/{mcp_server_id}/{idp_server_id}/callback",
      ),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "McpOAuthClient" });

/** The parts of an authorization server's metadata that an administrator needs. */
export const identityProvider = z
  .strictObject({
    issuer: z.string(),
    idp_server_id: z.string(),
    usable: z.boolean(),
    problem: z.string().nullable().describe("why it cannot be used; null when it can"),
    authorization_endpoint: z.string().nullable(),
    token_endpoint: z.string().nullable(),
    dynamic_client_registration: z.boolean(),
    client_id_metadata_documents: z.boolean(),
    names_itself_in_answers: z.boolean().describe("whether it sends iss (RFC 9207)"),
    scopes_supported: z.array(z.string()),
  })
  .meta({ id: "IdentityProvider" });

export type McpOAuthClientWrite = z.output<typeof mcpOAuthClientWrite>;
export type McpOAuthClient = z.output<typeof mcpOAuthClient>;
export type IdentityProvider = z.output<typeof identityProvider>;
