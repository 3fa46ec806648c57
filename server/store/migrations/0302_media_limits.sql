-- How large the files of a tenant may be, each and those of one group together; what is not named is what everybody has.
ALTER TABLE tenants ADD COLUMN media_limits jsonb NOT NULL DEFAULT '{}';
