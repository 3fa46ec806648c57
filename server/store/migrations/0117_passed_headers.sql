-- Further headers an admin lets pass between callers and a provider, by name, in lower case.
ALTER TABLE providers
  ADD COLUMN IF NOT EXISTS pass_request_headers jsonb NOT NULL DEFAULT '[]',
  ADD COLUMN IF NOT EXISTS pass_response_headers jsonb NOT NULL DEFAULT '[]';
