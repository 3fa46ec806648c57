-- Where a provider takes what it is to work on by itself, and leaves what came of it: a bucket of the tenant's own. The endpoint
-- is the vendor's own while it is null; the role is what Bedrock reads and writes the bucket as.
ALTER TABLE providers
  ADD COLUMN storage_uri text,
  ADD COLUMN storage_endpoint text,
  ADD COLUMN storage_role_arn text;
