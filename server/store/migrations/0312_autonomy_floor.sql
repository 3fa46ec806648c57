-- What AI Systems of the tenant may do at most on a process that has not heard of changes for so long that it knows nothing.
ALTER TABLE tenants ADD COLUMN IF NOT EXISTS autonomy_floor text NOT NULL DEFAULT 'autonomous';
