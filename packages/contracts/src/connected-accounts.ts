import { z } from "zod";
import { pageQuery, recordId, timestamp } from "./conventions.ts";

/** A user's account at a tool server, without its tokens, which no API returns. */
export const connectedAccount = z
  .strictObject({
    id: recordId,
    mcp_server_id: z.string(),
    mcp_server_name: z.string(),
    principal_type: z.enum(["user", "api_key"]).describe("the owner: a person, or a key that belongs to nobody"),
    principal_id: z.string(),
    principal_name: z.string().nullable().describe("username, or name of the key; null of one that is gone"),
    issuer: z.string().describe("the authorization server"),
    client_id: z.string().describe("the gateway's client ID there"),
    scopes: z.array(z.string()),
    has_refresh_token: z.boolean().describe("whether it is renewed without its owner's help"),
    expires_at: timestamp.nullable().describe("of the access token; null when the issuer did not say"),
    created_at: timestamp.describe("when it was connected"),
    updated_at: timestamp.describe("when its tokens were renewed last"),
  })
  .meta({ id: "ConnectedAccount" });

export const connectedAccountQuery = z.strictObject({ ...pageQuery.shape, end_user_id: recordId.optional() });

export type ConnectedAccount = z.output<typeof connectedAccount>;
