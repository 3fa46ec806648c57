-- What a server of the stateless dialect is to clients of the other, where it has sessions for them itself. Null of any other server.
ALTER TABLE mcp_servers ADD COLUMN handshake jsonb;
