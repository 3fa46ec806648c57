-- What a deleted group used goes on counting for those above it: the nearest of them that is left stands for it.
CREATE TABLE gone_groups (
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  group_id text NOT NULL,
  heir_id uuid NOT NULL REFERENCES resource_groups ON DELETE CASCADE,
  PRIMARY KEY (tenant_id, group_id)
);
CREATE INDEX gone_groups_heir ON gone_groups (heir_id);
INSERT INTO gone_groups
  SELECT DISTINCT g.tenant_id, l.resource_id, g.id FROM admin_log l JOIN resource_groups g ON g.id::text = l.before->>'parent_group_id' AND g.tenant_id = l.tenant_id
   WHERE l.resource = 'resource-groups' AND l.action = 'delete';
