-- Tenants that were deleted: their audit rows stay, and go when the tenant's own retention says.
CREATE TABLE gone_tenants (
  id text PRIMARY KEY,
  data_retention jsonb NOT NULL,
  gone_at timestamptz NOT NULL
);
INSERT INTO gone_tenants
  SELECT DISTINCT ON (resource_id) resource_id, before->'data_retention', at FROM admin_log l
   WHERE resource = 'tenants' AND action = 'delete' AND before->'data_retention' IS NOT NULL AND NOT EXISTS (SELECT FROM tenants t WHERE t.id = l.resource_id)
   ORDER BY resource_id, at DESC;
