import type { EndUser } from "@gatehouse/contracts/end-users";
import type { EndUserRow } from "../../store/people/end-users.ts";

export function readEndUser(row: EndUserRow): EndUser {
  return {
    id: row.id,
    tenant_id: row.tenant_id,
    username: row.username,
    email: row.email,
    display_name: row.display_name,
    is_active: row.is_active,
    is_verified: row.is_verified,
    must_change_password: row.must_change_password,
    metadata: row.metadata,
    avatar_url: row.avatar_url,
    totp_enabled: row.totp_enabled,
    api_keys_suspended_at: row.api_keys_suspended_at?.toISOString() ?? null,
    primary_group_id: row.primary_group_id,
    last_login: row.last_login?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** Omits personal data, because the admin log is never erased, while a person may ask to be. */
export function loggedEndUser(row: EndUserRow): object {
  const {
    username: _username,
    email: _email,
    display_name: _displayName,
    metadata: _metadata,
    avatar_url: _avatarUrl,
    ...rest
  } = readEndUser(row);
  return rest;
}
