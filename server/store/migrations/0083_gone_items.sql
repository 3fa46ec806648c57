-- What groups said of models and tool servers that are gone: nobody could change it, and a move of the group was held to it.
DELETE FROM group_policies p WHERE p.kind IN ('llm_limits', 'llm_governance') AND p.item_id <> ''
  AND NOT EXISTS (SELECT FROM models m WHERE m.id::text = p.item_id);
DELETE FROM group_policies p WHERE p.kind = 'mcp_limits' AND p.item_id <> ''
  AND NOT EXISTS (SELECT FROM mcp_servers s WHERE s.id = p.item_id);
