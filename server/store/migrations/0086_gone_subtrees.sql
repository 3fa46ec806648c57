-- Trees are deleted from below: what groups used whose parent is gone as well counts for whoever stands for that one.
WITH RECURSIVE gone AS (
  SELECT tenant_id, resource_id AS group_id, before->>'parent_group_id' AS parent_id FROM admin_log
   WHERE resource = 'resource-groups' AND action = 'delete' AND resource_id IS NOT NULL
), heirs AS (
  SELECT tenant_id, group_id, heir_id FROM gone_groups
  UNION SELECT g.tenant_id, g.group_id, h.heir_id FROM gone g JOIN heirs h ON h.tenant_id = g.tenant_id AND h.group_id = g.parent_id
)
INSERT INTO gone_groups SELECT * FROM heirs ON CONFLICT DO NOTHING;
