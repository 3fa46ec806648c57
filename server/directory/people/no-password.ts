/** Stored instead of a password hash for people who sign in elsewhere; matches no password. */
export const NO_PASSWORD = "none";

/** The columns of a new end user who signs in elsewhere, without password, group, picture or second factor. */
export function passwordlessEndUser(now: Date) {
  return {
    password_hash: NO_PASSWORD,
    is_verified: true,
    avatar_url: null,
    primary_group_id: null,
    assigned_group_id: null,
    tokens_valid_from: now,
    totp_secret_sealed: null,
    totp_last_step: null,
    created_at: now,
    updated_at: now,
  };
}
