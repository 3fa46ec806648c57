-- Saving a semantic policy bound its judge to groups as a model that their callers could use, hidden and without an entry
-- in the admin log. A judge needs no such binding: those that nobody made or hid by hand go.
DELETE FROM resource_group_models b
 WHERE NOT b.portal_visible
   AND NOT EXISTS (
     SELECT FROM admin_log l
      WHERE l.tenant_id = b.tenant_id AND l.resource = 'group-models' AND l.resource_id = b.group_id::text
        AND l.action IN ('bind', 'update') AND l.after::text LIKE '%' || b.model_id || '%'
   );
