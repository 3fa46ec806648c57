-- What a connector shows to the place it takes documents from.
ALTER TABLE knowledge_connectors ADD COLUMN credential_sealed text;
