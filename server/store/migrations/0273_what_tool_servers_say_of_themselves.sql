-- A tool server describes itself to clients (title, description, website, icons), which clients of the other dialect are told too, and it
-- instructs the models behind them, which is compared between discoveries as definitions of tools are. What was discovered before is taken
-- to have had the instructions that are known now: nobody can say otherwise.
ALTER TABLE mcp_servers ADD COLUMN server_info jsonb;
ALTER TABLE mcp_server_snapshots ADD COLUMN instructions text;
UPDATE mcp_server_snapshots s SET instructions = m.instructions FROM mcp_servers m WHERE m.id = s.mcp_server_id;
