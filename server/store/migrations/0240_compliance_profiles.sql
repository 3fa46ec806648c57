-- The frameworks a tenant reports under; null: none, and its rows carry no compliance tags.
ALTER TABLE tenants ADD COLUMN IF NOT EXISTS compliance_frameworks text[];
