import type { NullableStamp, Stamp, WithDefault } from "./columns.ts";

export interface OAuthUpstreamClientTable {
  tenant_id: string;
  mcp_server_id: string;
  issuer: string;
  /** Empty if an admin made the client. */
  redirect_uri: WithDefault<string>;
  client_id: string;
  client_secret_sealed: string | null;
  auth_method: string;
  scopes: string[] | null;
  created_at: Stamp;
  updated_at: WithDefault<Date>;
}

export interface OAuthTokenTable {
  id: string;
  tenant_id: string;
  principal_type: string;
  principal_id: string;
  mcp_server_id: string;
  issuer: string;
  client_id: string;
  redirect_uri: string;
  resource: string;
  access_token_sealed: string;
  refresh_token_sealed: string | null;
  scopes: WithDefault<string[]>;
  expires_at: NullableStamp;
  /** Who is renewing the tokens, and until when nobody else may. */
  renewal_id: string | null;
  renewal_ends: NullableStamp;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface OAuthClientGrantTable {
  id: string;
  tenant_id: string;
  token_id: string;
  client_hash: string;
  nonce: string;
  created_at: Stamp;
  used_at: Stamp;
}
