-- What a deleted group used goes on counting for those above it: the nearest of them that is left stands for it.
CREATE TABLE gone_groups (
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  group_id text NOT NULL,
  heir_id uuid NOT NULL REFERENCES resource_groups ON DELETE CASCADE,
  PRIMARY KEY (tenant_id, group_id)
);
CREATE INDEX gone_groups_heir ON gone_groups (heir_id);
-- A tree is deleted from below: what groups used whose parent is gone as well counts for whoever stands for that one.
WITH RECURSIVE gone AS (
  SELECT tenant_id, resource_id AS group_id, before->>'parent_group_id' AS parent_id FROM admin_log
   WHERE resource = 'resource-groups' AND action = 'delete' AND resource_id IS NOT NULL
), heirs AS (
  SELECT gone.tenant_id, gone.group_id, g.id AS heir_id FROM gone JOIN resource_groups g ON g.id::text = gone.parent_id AND g.tenant_id = gone.tenant_id
  UNION SELECT gone.tenant_id, gone.group_id, heirs.heir_id FROM gone JOIN heirs ON heirs.tenant_id = gone.tenant_id AND heirs.group_id = gone.parent_id
)
INSERT INTO gone_groups SELECT * FROM heirs ON CONFLICT DO NOTHING;
