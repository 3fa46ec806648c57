import type { ColumnType } from "kysely";
import type { NullableStamp, Stamp, WithDefault } from "./columns.ts";

/** Identity providers, and sign-ins in progress. */

export interface IdentityProviderTable {
  id: string;
  tenant_id: string;
  kind: "oidc" | "saml";
  name: string;
  audience: "portal" | "admin" | "api";
  enabled: WithDefault<boolean>;
  settings: ColumnType<Record<string, unknown>, string, string>;
  client_secret_sealed: string | null;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface ExternalIdentityTable {
  provider_id: string;
  subject: string;
  tenant_id: string;
  end_user_id: string | null;
  admin_user_id: string | null;
  created_at: Stamp;
  last_login: NullableStamp;
  username: string | null;
  email: string | null;
  /** Whether the subject encodes where each of its parts ends. */
  exact: WithDefault<boolean>;
}

export interface SignOnStepTable {
  step_hash: string;
  kind: "state" | "code";
  tenant_id: string;
  provider_id: string;
  binding_hash: string;
  sealed: string;
  expires_at: Date;
}

export interface SignOnSessionTable {
  id: string;
  tenant_id: string;
  provider_id: string;
  end_user_id: string | null;
  admin_user_id: string | null;
  subject_hash: string;
  session_hash: string | null;
  id_token_sealed: string | null;
  created_at: Date;
  expires_at: Date;
}
