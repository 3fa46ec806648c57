-- Where the log of a tenant begins whose id another one had before.
CREATE INDEX admin_log_tenants_made ON admin_log (resource_id, chain_seq) WHERE resource = 'tenants' AND action = 'create';
