-- Sessions of the handshake dialect in which the caller was shown the way to the approval: the same call goes on there
-- without its token. Digests, never the sessions' own texts.
ALTER TABLE approvals ADD COLUMN shown_in text[] NOT NULL DEFAULT '{}';
CREATE INDEX approvals_usable ON approvals (tenant_id, requester_id) WHERE status = 'approved' AND consumed_at IS NULL;
