-- Beside the key that never changes, what the provider called the person when they last signed in: for the rows of their calls.
ALTER TABLE external_identities ADD COLUMN username text;
ALTER TABLE external_identities ADD COLUMN email text;
