-- Which end user resolved an approval, so that it is no administrator of the same name: null for one of those, empty for
-- an end user who is gone. Administrators' resolutions stand in the admin log.
ALTER TABLE approvals ADD COLUMN resolver_id text;
UPDATE approvals a SET resolver_id = coalesce((SELECT u.id::text FROM end_users u WHERE u.tenant_id = a.tenant_id AND u.username = a.resolved_by), '')
  WHERE a.resolved_by IS NOT NULL AND NOT EXISTS (SELECT FROM admin_log l WHERE l.resource = 'approvals' AND l.resource_id = a.id::text AND l.action IN ('approve', 'reject'));
-- One text is one name, however it was written. Where two people have had it in two forms, both keep theirs. Only of
-- UTF-8 does the database know forms.
UPDATE end_users u SET username = normalize(username, NFC) WHERE CASE WHEN getdatabaseencoding() = 'UTF8' THEN username IS NOT NFC NORMALIZED
  AND NOT EXISTS (SELECT FROM end_users o WHERE o.tenant_id = u.tenant_id AND o.id <> u.id AND lower(normalize(o.username, NFC)) = lower(normalize(u.username, NFC))) END;
UPDATE admin_users u SET username = normalize(username, NFC) WHERE CASE WHEN getdatabaseencoding() = 'UTF8' THEN username IS NOT NFC NORMALIZED
  AND NOT EXISTS (SELECT FROM admin_users o WHERE o.tenant_id IS NOT DISTINCT FROM u.tenant_id AND o.id <> u.id AND lower(normalize(o.username, NFC)) = lower(normalize(u.username, NFC))) END;
