-- Two-factor sign-in of administrators, and whether a tenant asks it of all of theirs.
ALTER TABLE admin_users
  ADD COLUMN totp_enabled boolean NOT NULL DEFAULT false,
  ADD COLUMN totp_secret_sealed text,
  -- The 30-second step of the last code that was taken: a code works once.
  ADD COLUMN totp_last_step bigint;

CREATE TABLE admin_backup_codes (
  admin_user_id uuid NOT NULL REFERENCES admin_users ON DELETE CASCADE,
  slot integer NOT NULL,
  code_hash text NOT NULL,
  used_at timestamptz,
  PRIMARY KEY (admin_user_id, slot)
);

ALTER TABLE tenants
  ADD COLUMN admin_two_factor text NOT NULL DEFAULT 'optional' CHECK (admin_two_factor IN ('optional', 'required'));
