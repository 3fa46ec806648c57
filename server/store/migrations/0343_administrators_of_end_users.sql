-- The administrators with whom an end user shared an e-mail address until they changed theirs themselves. Both stay one
-- person where somebody else than who asked has to approve, and the address that was given up is not kept for it.
ALTER TABLE end_users ADD COLUMN known_as_admin_ids uuid[] NOT NULL DEFAULT '{}';
