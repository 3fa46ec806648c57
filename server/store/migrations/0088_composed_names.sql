-- One text is one name, however it was written. Where two people have had it in two forms, both keep theirs.
UPDATE end_users u SET username = normalize(username, NFC) WHERE username IS NOT NFC NORMALIZED
  AND NOT EXISTS (SELECT FROM end_users o WHERE o.tenant_id = u.tenant_id AND o.id <> u.id AND lower(normalize(o.username, NFC)) = lower(normalize(u.username, NFC)));
UPDATE admin_users u SET username = normalize(username, NFC) WHERE username IS NOT NFC NORMALIZED
  AND NOT EXISTS (SELECT FROM admin_users o WHERE o.tenant_id IS NOT DISTINCT FROM u.tenant_id AND o.id <> u.id AND lower(normalize(o.username, NFC)) = lower(normalize(u.username, NFC)));
