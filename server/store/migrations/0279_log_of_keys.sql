-- Who made or rotated a key, which is looked up for each approval of a call that came with it: a tenant's log grows for ever.
CREATE INDEX admin_log_keys ON admin_log (resource_id) WHERE resource = 'api-keys' AND action IN ('create', 'rotate');
