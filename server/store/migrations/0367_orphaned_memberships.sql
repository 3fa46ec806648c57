-- Memberships that a sign-in gave and that no sign-in takes away any more: their provider is gone, a directory says by now who is
-- in which group, or the person was unlinked from it.
DELETE FROM end_user_group_members m
 WHERE m.source ~ '^sso-[0-9a-f-]{36}$'
   AND NOT EXISTS (
         SELECT FROM identity_providers p JOIN external_identities e ON e.provider_id = p.id
          WHERE 'sso-' || p.id = m.source AND e.end_user_id = m.end_user_id AND p.settings ->> 'scim_directory' IS NULL);
