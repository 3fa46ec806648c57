-- Whether an identity provider vouched for whoever's session of a page it is, and they gave no password of theirs.
ALTER TABLE page_sessions ADD COLUMN signed_on boolean NOT NULL DEFAULT false;
