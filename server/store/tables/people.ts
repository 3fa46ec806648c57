import type { ColumnType } from "kysely";
import type { Json, JsonWithDefault, NullableStamp, Stamp, WithDefault } from "./columns.ts";

/** Administrators, end users and what is shown to them. */

export interface AdminUserTable {
  id: string;
  tenant_id: string | null;
  username: string;
  email: string | null;
  display_name: string | null;
  password_hash: string;
  role: string;
  break_glass: WithDefault<boolean>;
  is_active: WithDefault<boolean>;
  tokens_valid_from: Stamp;
  last_login: NullableStamp;
  created_at: Stamp;
  updated_at: Stamp;
  totp_enabled: WithDefault<boolean>;
  totp_secret_sealed: WithDefault<string | null>;
  totp_last_step: WithDefault<number | null>;
}

export interface PageSessionTable {
  id: string;
  tenant_id: string | null;
  end_user_id: string | null;
  admin_user_id: string | null;
  generation: Date;
  secret_hash: string;
  previous_hash: string | null;
  rotated_at: Date;
  created_at: Date;
  expires_at: Date;
  /** The end of the session as set by an identity provider. */
  ends_at: Date | null;
  /**
   * Whether the holder signed in through an identity provider instead of a password; for an administrator, one that requires a second
   * factor.
   */
  signed_on: WithDefault<boolean>;
}

export interface IdempotentAnswerTable {
  admin_id: string;
  key_hash: string;
  request_hash: string;
  record_id: string | null;
  answer_sealed: string;
  is_final: boolean;
  made_at: Date;
}

export interface EndUserTable {
  id: string;
  tenant_id: string;
  username: string;
  email: string | null;
  display_name: string | null;
  password_hash: string;
  is_active: WithDefault<boolean>;
  is_verified: WithDefault<boolean>;
  /** Whether the account was made through the portal's open registration. */
  self_registered: WithDefault<boolean>;
  must_change_password: WithDefault<boolean>;
  /** Administrators who had this person's e-mail address until the person changed it. */
  known_as_admin_ids: WithDefault<string[]>;
  metadata: ColumnType<Record<string, unknown>, string | undefined, string>;
  avatar_url: string | null;
  totp_enabled: WithDefault<boolean>;
  primary_group_id: string | null;
  assigned_group_id: string | null;
  tokens_valid_from: Stamp;
  /** Since when their API keys are suspended because an identity provider no longer admits them; null if they are not. */
  api_keys_suspended_at: NullableStamp;
  totp_secret_sealed: string | null;
  totp_last_step: number | null;
  last_login: NullableStamp;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface EndUserPhotoTable {
  end_user_id: string;
  tenant_id: string;
  photo_id: string;
  mime_type: string;
  content: Buffer;
  created_at: Stamp;
}

export interface EndUserGroupTable {
  id: string;
  tenant_id: string;
  name: string;
  display_name: string | null;
  description: string | null;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface NotificationTable {
  id: string;
  tenant_id: string;
  end_user_id: string;
  notification_type: string;
  title: string;
  body: string;
  metadata: JsonWithDefault<Record<string, unknown>>;
  is_read: WithDefault<boolean>;
  read_at: NullableStamp;
  created_at: Stamp;
  expires_at: NullableStamp;
}

export interface NoticeConfigTable {
  id: string;
  tenant_id: string;
  ai_system_id: string | null;
  enabled: boolean;
  surface: string;
  texts: Json<Record<string, string>>;
  exemption: ColumnType<NoticeExemption | null, string | null, string | null>;
  updated_at: Stamp;
}

export interface NoticeExemption {
  asserted: boolean;
  basis: "obvious_from_context" | "authorised_by_law" | "no_natural_person" | "other";
  rationale: string;
}
