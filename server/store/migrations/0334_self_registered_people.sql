-- Whether a stranger made the account, as the portal lets them: its name may be somebody else's, and so may its password.
ALTER TABLE end_users ADD COLUMN self_registered boolean NOT NULL DEFAULT false;
UPDATE end_users u SET self_registered = true
  FROM admin_log l
 WHERE l.resource = 'end-users' AND l.action = 'create' AND l.actor_id IS NULL AND l.actor_role IS NULL
   AND l.tenant_id = u.tenant_id AND l.resource_id = u.id::text;
