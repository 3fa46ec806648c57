-- How often a branch of the group was moved elsewhere. What is counted of the group begins anew with it, from the
-- totals of those that stayed.
ALTER TABLE resource_groups ADD COLUMN branches_left integer NOT NULL DEFAULT 0;
