-- Where the log of a tenant begins whose id another one had before.
CREATE INDEX admin_log_tenants_made ON admin_log (resource_id, chain_seq) WHERE resource = 'tenants' AND action = 'create';
-- One renewal of the same tokens at a time over all processes, without a connection that waits for their issuer.
ALTER TABLE oauth_tokens ADD COLUMN renewal_id uuid, ADD COLUMN renewal_ends timestamptz;
