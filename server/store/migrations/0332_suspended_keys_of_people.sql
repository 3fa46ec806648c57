-- Since when the API keys of a person open nothing, because an identity provider lets them in no more; their next sign-in ends it.
ALTER TABLE end_users ADD COLUMN api_keys_suspended_at timestamptz;
-- Whether a provider that lets somebody in no more has their keys suspended.
UPDATE identity_providers SET settings = settings || '{"suspends_api_keys": true}';
