-- Whether `subject` says where each part of it ends. In earlier rows a slash stood between the parts, and could stand within one.
ALTER TABLE external_identities ADD COLUMN exact boolean NOT NULL DEFAULT false;
