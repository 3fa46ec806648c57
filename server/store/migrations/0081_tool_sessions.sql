-- What callers said for the whole of their sessions with servers that the gateway translates for or gathers: any process
-- may get their next request. session is a digest, never the session's own text. version tells the newer of two
-- readings, also of a row that was forgotten and made again.
CREATE SEQUENCE tool_sessions_version;
CREATE TABLE tool_sessions (
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  session text NOT NULL,
  uris text[] NOT NULL DEFAULT '{}',
  log_level text,
  version bigint NOT NULL DEFAULT nextval('tool_sessions_version'),
  used_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, session)
);
CREATE INDEX tool_sessions_used ON tool_sessions (used_at);
