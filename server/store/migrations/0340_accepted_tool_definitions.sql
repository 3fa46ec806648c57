-- Which discovery's tool definitions somebody looked at last and accepted, so that what differs from them can be shown. Until
-- somebody does, the first discovery's count: they are what stood there when the server was registered.
ALTER TABLE mcp_servers ADD COLUMN accepted_snapshot_id text, ADD COLUMN accepted_at timestamptz;
